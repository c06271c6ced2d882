// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/provider_run.hpp"

#include "doctor/checks/per_gpu.hpp"
#include "doctor/messages.hpp"

namespace ridgeline::doctor {
namespace {

/// Rounding of TF32 (10 bits) through a small network stays well below; a wrong answer does not.
constexpr double kMostOutputError = 0.02;

schema::Message fix_of(const ProviderRun& run) {
  switch (run.status) {
    case schema::TrialStatus::crashed: return messages::fix_crashed();
    case schema::TrialStatus::timeout: return messages::fix_timeout();
    case schema::TrialStatus::out_of_memory: return messages::fix_out_of_memory();
    case schema::TrialStatus::unsupported: return messages::fix_unsupported();
    default: return messages::fix_failed_run();
  }
}

GpuVerdict verdict_of(const ProviderRun& run, CheckStatus other_answers) {
  if (!run.not_run.empty()) return {CheckStatus::skipped, run.not_run, {}, {}};
  if (run.status != schema::TrialStatus::ok)
    return {CheckStatus::fail,
            messages::run_failed({.status = std::string(base::enum_name(run.status)), .failure = run.failure}),
            fix_of(run),
            {}};
  const double median_ns = run.median_ms * 1e6;
  if (run.output_error && *run.output_error > kMostOutputError)
    return {other_answers,
            messages::answers_differ({.median = median_ns, .error = *run.output_error}),
            other_answers == CheckStatus::fail ? messages::fix_wrong_answers() : messages::fix_other_answers(),
            {}};
  return {CheckStatus::ok,
          messages::run({.median = median_ns, .same = run.output_error.has_value(), .gpu_memory = run.gpu_bytes}),
          {},
          {}};
}

}  // namespace

void judge_runs(const std::vector<const ProviderRun*>& runs, CheckStatus other_answers, Check& check) {
  check.status = CheckStatus::skipped;
  check.evidence = messages::not_tried();
  if (runs.empty()) return;
  std::vector<DeviceVerdict> verdicts;
  for (const auto* run : runs) verdicts.push_back({run->device, verdict_of(*run, other_answers)});
  fold_verdicts(std::move(verdicts), check);
}

}  // namespace ridgeline::doctor
