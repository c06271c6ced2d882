// SPDX-License-Identifier: Apache-2.0
// GPU memory: a card nearly full, and a memory limit that the worker outgrew.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/rules/rule.hpp"
#include "base/text.hpp"

namespace ridgeline::analysis {
namespace {

constexpr double kNearlyFull = 0.9;

std::optional<std::int64_t> card_bytes(const schema::Environment& environment, const std::string& uuid) {
  for (const auto& gpu : environment.gpus)
    if (gpu.memory_bytes > 0 && (gpu.uuid == uuid || environment.gpus.size() == 1)) return gpu.memory_bytes;
  return std::nullopt;
}

}  // namespace

std::vector<Finding> gpu_memory_rule(const Evidence& evidence) {
  if (evidence.chosen == nullptr || !evidence.chosen->outcome->measurement->gpu) return {};
  const auto& measurement = *evidence.chosen->outcome->measurement;
  const auto& gpu = *measurement.gpu;
  const auto& trial = *evidence.chosen->trial;
  std::vector<Finding> findings;
  const auto card = card_bytes(evidence.run.environment, gpu.uuid);
  if (card && gpu.device_peak_bytes &&
      static_cast<double>(*gpu.device_peak_bytes) >= kNearlyFull * static_cast<double>(*card))
    findings.push_back(
        {FindingKind::limit,
         fmt::format("GPU memory is nearly full: {:.0f} % in use at the peak of trial {}",
                     100 * static_cast<double>(*gpu.device_peak_bytes) / static_cast<double>(*card), trial.id),
         fmt::format("{} of {}, of which the worker took {}",
                     base::format_bytes(static_cast<double>(*gpu.device_peak_bytes)),
                     base::format_bytes(static_cast<double>(*card)),
                     gpu.peak_bytes() ? base::format_bytes(static_cast<double>(*gpu.peak_bytes()))
                                      : std::string("an unknown part")),
         "Leave room for other users of the card: --constraint 'gpu_memory_gb<=N', a smaller batch or fewer sessions"});
  const auto* limit = trial.configuration.find("gpu_mem_limit_gb");
  const auto peak_gb = metric_value(measurement, evidence.chosen->summary, "gpu_memory_gb");
  if (limit != nullptr && peak_gb && *peak_gb > limit->as_number())
    findings.push_back(
        {FindingKind::limit,
         fmt::format("gpu_mem_limit_gb={} is a guard of the runtime's arena, not of the process", limit->to_text()),
         fmt::format("the worker of trial {} reached {:.2f} GB: context, libraries and CUDA graphs come on top",
                     trial.id, *peak_gb),
         "To bound the whole process use --constraint 'gpu_memory_gb<=N'"});
  return findings;
}

}  // namespace ridgeline::analysis
