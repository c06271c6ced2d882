// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/findings/rules.hpp"
#include "trace/findings/tally.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kManyKernels = 50;  // of a call
constexpr std::int64_t kTinyKernelNs = 20'000;

bool is_below(const Attribution& attribution, Place row, Place ancestor) {
  for (auto at = row; at != kNowhere; at = attribution.rows[at].parent)
    if (at == ancestor) return true;
  return false;
}

/// "AdamW" of "Optimizer.step#AdamW.step"; "" where the name has none.
std::string_view optimizer_class(std::string_view row) {
  const auto begin = row.find('#');
  const auto end = row.rfind(".step");
  return begin == std::string_view::npos || end <= begin ? std::string_view() : row.substr(begin + 1, end - begin - 1);
}

std::string optimizer_code(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kFused{"Adam", "AdamW", "SGD", "Adagrad"};
  if (name.empty() || std::find(kFused.begin(), kFused.end(), name) != kFused.end())
    return fmt::format("torch.optim.{}(model.parameters(), lr=..., fused=True)", name.empty() ? "AdamW" : name);
  return fmt::format(
      "torch.optim.AdamW(model.parameters(), lr=..., fused=True)   # or, with {}:\n"
      "step = torch.compile(optimizer.step, fullgraph=False)",
      name);
}

}  // namespace

void optimizer_rule(const Case& of) {
  const auto& attribution = of.analysed.attribution;
  for (std::size_t i = 0; i < of.tables.modules.size(); ++i) {
    const auto& row = of.tables.modules[i];
    if (!row.name.starts_with("Optimizer.step") || row.calls == 0) continue;
    const auto each = row.kernels / row.calls;
    if (each < kManyKernels || row.gpu_total_ns / std::max<std::int64_t>(1, row.kernels) > kTinyKernelNs) continue;
    schema::ProfileFinding finding;
    finding.rule = "tiny-optimizer-kernels";
    finding.module = row.path;
    std::size_t gaps = 0;
    for (const auto& gap : of.analysed.gaps)
      if (gap.place == GapPlace::between_work && gap.call != kNowhere &&
          is_below(attribution, attribution.row_of_launch(gap.call, of.analysed.nesting), static_cast<Place>(i)))
        finding.saving_ns += gap.duration_ns(), ++gaps;
    finding.title = fmt::format("{} launches {} kernels a step, {} each in the mean", row.name, each,
                                duration_text(row.gpu_total_ns / row.kernels));
    finding.evidence = {
        fmt::format("{} kernels in {}", row.kernels, base::counted(static_cast<std::size_t>(row.calls), "step")),
        fmt::format("{} before them, {}", base::counted(gaps, "gap"), duration_text(finding.saving_ns))};
    finding.computed = "the gaps before these kernels: a fused optimizer launches a few";
    finding.advice = "Use the fused optimizer.";
    finding.code = optimizer_code(optimizer_class(row.name));
    of.add(std::move(finding));
  }
}

}  // namespace ridgeline::trace
