// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/findings/rules.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kManyKernels = 50;  // of a call
constexpr std::int64_t kTinyKernelNs = 20'000;

bool is_below(const Attribution& attribution, Place row, Place ancestor) {
  for (auto at = row; at != kNowhere; at = attribution.rows[at].parent)
    if (at == ancestor) return true;
  return false;
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
    std::int64_t gaps = 0;
    for (const auto& gap : of.analysed.gaps)
      if (gap.call != kNowhere &&
          is_below(attribution, attribution.row_of_launch(gap.call, of.analysed.nesting), static_cast<Place>(i)))
        finding.saving_ns += gap.duration_ns(), ++gaps;
    finding.title =
        fmt::format("{} launches {} kernels a step, {} each in the mean", row.name, each,
                    base::format_duration(static_cast<double>(row.gpu_total_ns) / static_cast<double>(row.kernels)));
    finding.evidence = {
        fmt::format("{} gaps before them, {}", gaps, base::format_duration(static_cast<double>(finding.saving_ns)))};
    finding.computed = "the gaps before these kernels: a fused optimizer launches a few";
    finding.advice = "Use the fused optimizer.";
    finding.code = "torch.optim.AdamW(model.parameters(), lr=..., fused=True)";
    of.add(std::move(finding));
  }
}

void collective_rule(const Case& of) {
  std::int64_t exposed = 0;
  std::int64_t all = 0;
  for (const auto& device : of.tables.devices) {
    exposed += device.exposed_ns;
    all += device.collective_ns;
  }
  if (exposed == 0) return;
  schema::ProfileFinding finding;
  finding.rule = "exposed-communication";
  finding.saving_ns = exposed;
  finding.title =
      fmt::format("NCCL keeps the GPUs {} from computing", base::format_duration(static_cast<double>(exposed)));
  finding.evidence = {fmt::format("{} of {} of NCCL run with no other kernel beside them",
                                  base::format_duration(static_cast<double>(exposed)),
                                  base::format_duration(static_cast<double>(all)))};
  finding.computed = "at most: the time in which NCCL ran alone; waiting for a slower rank is part of it";
  finding.advice = "Send gradients while the backward pass goes on, in buckets, and with less to send.";
  finding.code =
      "DistributedDataParallel(model, bucket_cap_mb=50, gradient_as_bucket_view=True, static_graph=True)\n"
      "model.register_comm_hook(None, torch.distributed.algorithms.ddp_comm_hooks.default_hooks.bf16_compress_hook)";
  of.add(std::move(finding), 0.03);
}

}  // namespace ridgeline::trace
