// SPDX-License-Identifier: Apache-2.0
// GPU memory: a card nearly full, and a memory limit that the worker outgrew.
#include <algorithm>

#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"

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
  const double peak = gpu.device_peak_bytes ? static_cast<double>(*gpu.device_peak_bytes) : 0;
  if (card && peak >= kNearlyFull * static_cast<double>(*card))
    findings.push_back(
        {FindingKind::limit,
         messages::memory_nearly_full({.share = peak / static_cast<double>(*card), .trial = trial.id}),
         messages::memory_at_peak({.peak = peak, .card = static_cast<double>(*card), .worker = gpu.peak_bytes()}),
         messages::leave_memory()});
  const auto* limit = trial.configuration.find("gpu_mem_limit_gb");
  const auto peak_gb = metric_value(measurement, evidence.chosen->summary, "gpu_memory_gb");
  if (limit != nullptr && peak_gb && *peak_gb > limit->as_number())
    findings.push_back({FindingKind::limit, messages::memory_limit_outgrown(limit->to_text()),
                        messages::memory_limit_reached({.trial = trial.id, .peak_gb = *peak_gb}),
                        messages::bound_process_memory()});
  return findings;
}

}  // namespace ridgeline::analysis
