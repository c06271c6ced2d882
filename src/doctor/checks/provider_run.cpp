// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/provider_run.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "doctor/checks/per_gpu.hpp"

namespace ridgeline::doctor {
namespace {

/// Rounding of TF32 (10 bits) through a small network stays well below; a wrong answer does not.
constexpr double kMostOutputError = 0.02;

std::string fix_of(const ProviderRun& run) {
  switch (run.status) {
    case schema::TrialStatus::crashed:
      return "the runtime or one of its libraries died, not Ridgeline: mixed library versions are the usual cause, see "
             "the "
             "libraries above";
    case schema::TrialStatus::timeout:
      return "it hung: look for Xid lines of the kernel (sudo dmesg | grep -i xid) and for other users of the GPU";
    case schema::TrialStatus::out_of_memory: return "free memory on the device, or take a smaller batch";
    case schema::TrialStatus::unsupported: return "update ONNX Runtime, or export the model with an older opset";
    default: return "see docs/troubleshooting.md, the CUDA provider fails to load";
  }
}

GpuVerdict verdict_of(const ProviderRun& run, CheckStatus other_answers) {
  if (!run.not_run.empty()) return {CheckStatus::skipped, run.not_run, {}, {}};
  if (run.status != schema::TrialStatus::ok)
    return {CheckStatus::fail, fmt::format("{}: {}", base::enum_name(run.status), run.message), fix_of(run), {}};
  auto evidence = base::format_duration(run.median_ms * 1e6);
  if (run.output_error && *run.output_error > kMostOutputError)
    return {
        other_answers,
        fmt::format("{}, but the answers differ from the CPU's by {:.2g} of their size", evidence, *run.output_error),
        other_answers == CheckStatus::fail
            ? "do not trust this device: check its ECC errors, and repeat with another driver or ONNX Runtime"
            : "TF32 or FP16 may do that to a deep model: check it with inputs and a tolerance of your own",
        {}};
  if (run.output_error) evidence += ", same answers as the CPU";
  if (run.gpu_bytes)
    evidence += fmt::format(", {} on the GPU", base::format_bytes(static_cast<double>(*run.gpu_bytes)));
  return {CheckStatus::ok, std::move(evidence), {}, {}};
}

}  // namespace

void judge_runs(const std::vector<const ProviderRun*>& runs, CheckStatus other_answers, Check& check) {
  check.status = CheckStatus::skipped;
  check.evidence = "not tried";
  if (runs.empty()) return;
  std::vector<DeviceVerdict> verdicts;
  for (const auto* run : runs) verdicts.push_back({run->device, verdict_of(*run, other_answers)});
  fold_verdicts(std::move(verdicts), check);
}

}  // namespace ridgeline::doctor
