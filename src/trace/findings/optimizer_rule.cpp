// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/findings/rules.hpp"
#include "trace/findings/tally.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kManyKernels = 50;  // of a call
constexpr std::int64_t kTinyKernelNs = 20'000;

/// The range that is the call of `row` which made this launch; kNowhere: none is.
Place step_of(const AnalysedTrace& analysed, Place call, Place row) {
  auto range = call == kNowhere ? kNowhere : analysed.nesting.range_of_call[call];
  const auto& attribution = analysed.attribution;
  while (range != kNowhere && !(attribution.opens_row[range] && attribution.row_of_range[range] == row))
    range = analysed.nesting.parent_of_range[range];
  return range;
}

/// Between two kernels of one step, and for no other reason than that it launches so many: waits, allocation and the
/// like have findings of their own.
bool is_between_kernels(const AnalysedTrace& analysed, const Gap& gap, Place row) {
  const bool for_launches = gap.cause == schema::IdleCause::launch ||
                            (gap.cause == schema::IdleCause::queue && gap.duration_ns() <= kLongestTurnNs);
  if (gap.place != GapPlace::between_work || !for_launches) return false;
  const auto step = step_of(analysed, gap.call, row);
  return step != kNowhere && step == step_of(analysed, gap.before, row);
}

/// Kernels of a row with those below it.
struct KernelTimes {
  std::size_t count = 0;
  std::size_t timeless = 0;  ///< that last 0 ns
  std::int64_t sum_ns = 0;
  std::map<NameId, std::int64_t> by_name;

  /// A tenth of them or more last 0 ns.
  [[nodiscard]] bool lack_times() const { return timeless > 0 && timeless * 10 >= count; }
  /// What is left of them if each parameter is read and written once.
  [[nodiscard]] std::int64_t fused_ns() const {
    std::int64_t most = 0;
    for (const auto& [name, ns] : by_name) most = std::max(most, ns);
    return most;
  }
};

std::map<ProcessDevice, KernelTimes> times_of(const AnalysedTrace& analysed, Place row) {
  const auto& kernels = analysed.trace.kernels;
  const auto& rows = analysed.attribution.rows;
  std::map<ProcessDevice, KernelTimes> all;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    auto at = analysed.kernels.row[i];
    while (at != kNowhere && at != row) at = rows[at].parent;
    if (at == kNowhere) continue;
    const auto& lane = analysed.trace.gpu_lanes[kernels.lane[i]];
    auto& out = all[{lane.process, lane.device}];
    ++out.count;
    out.timeless += kernels.duration_ns[i] == 0 ? 1 : 0;
    out.sum_ns += kernels.duration_ns[i];
    out.by_name[kernels.name[i]] += kernels.duration_ns[i];
  }
  return all;
}

/// "AdamW" of "Optimizer.step#AdamW.step"; "" where the name has none.
std::string_view optimizer_class(std::string_view row) {
  const auto begin = row.find('#');
  const auto end = row.rfind(".step");
  return begin == std::string_view::npos || end <= begin ? std::string_view() : row.substr(begin + 1, end - begin - 1);
}

std::string optimizer_snippet(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kFused{"Adam", "AdamW", "SGD", "Adagrad"};
  if (name.empty() || std::find(kFused.begin(), kFused.end(), name) != kFused.end())
    return fmt::format("torch.optim.{}(model.parameters(), lr=..., fused=True)", name.empty() ? "AdamW" : name);
  return "step = torch.compile(optimizer.step, fullgraph=False)";
}

}  // namespace

void optimizer_rule(const Case& of) {
  for (std::size_t i = 0; i < of.tables.modules.size(); ++i) {
    const auto& row = of.tables.modules[i];
    if (!row.name.starts_with("Optimizer.step") || row.calls == 0) continue;
    const auto each = row.kernels / row.calls;
    if (each < kManyKernels || row.gpu_total_ns / std::max<std::int64_t>(1, row.kernels) > kTinyKernelNs) continue;
    const auto times = times_of(of.analysed, static_cast<Place>(i));
    if (std::any_of(times.begin(), times.end(), [](const auto& one) { return one.second.lack_times(); })) continue;
    schema::ProfileFinding finding;
    finding.module = row.path;
    std::vector<std::size_t> gaps;
    std::int64_t gaps_ns = 0;
    std::map<ProcessDevice, std::int64_t> savings;
    for (std::size_t at = 0; at < of.analysed.gaps.size(); ++at) {
      const auto& gap = of.analysed.gaps[at];
      if (of.counted_gaps[at] || !is_between_kernels(of.analysed, gap, static_cast<Place>(i))) continue;
      gaps_ns += gap.duration_ns();
      savings[{gap.process, gap.device}] += gap.duration_ns();
      gaps.push_back(at);
    }
    finding.title = messages::tiny_optimizer_kernels(
        {.name = row.name, .kernels = each, .each = static_cast<double>(row.gpu_total_ns / row.kernels)});
    finding.evidence = {messages::kernels_of_optimizer({.kernels = row.kernels, .steps = row.calls}),
                        messages::gaps_of_optimizer({.gaps = std::ssize(gaps), .time = static_cast<double>(gaps_ns)})};
    for (const auto& [device, kernels] : times) savings[device] += kernels.sum_ns - kernels.fused_ns();
    for (const auto& [device, ns] : savings) finding.saving_ns = std::max(finding.saving_ns, ns);
    if (savings.size() > 1) finding.evidence.push_back(messages::saving_of_one_gpu());
    finding.computed = messages::computed_optimizer();
    finding.advice = messages::advice_fused_optimizer();
    finding.snippet = optimizer_snippet(optimizer_class(row.name));
    if (!of.add(std::move(finding))) continue;
    for (const auto at : gaps) of.counted_gaps[at] = true;
  }
}

}  // namespace ridgeline::trace
