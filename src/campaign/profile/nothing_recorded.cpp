// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/nothing_recorded.hpp"

#include <algorithm>

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::fail;
using trace::RecordingState;

const trace::RecordedProcess* first_of(const trace::Recording& recording, RecordingState state) {
  const auto& all = recording.processes;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.state == state; });
  return found == all.end() ? nullptr : &*found;
}

/// ": reason", or nothing.
std::string because(const trace::RecordedProcess& process) { return process.why.empty() ? "" : ": " + process.why; }

}  // namespace

base::Fault nothing_recorded(const trace::Recording& recording, const RecordOptions& options,
                             const std::string& other_injection, bool has_hooks) {
  constexpr auto kCode = ErrorCode::unavailable;
  if (!other_injection.empty())
    return fail(kCode, "nothing was recorded: CUDA_INJECTION64_PATH names another library, {}", other_injection)
        .hint("unset CUDA_INJECTION64_PATH");
  if (const auto* process = first_of(recording, RecordingState::no_cupti))
    return fail(kCode, "nothing was recorded: CUPTI, CUDA's profiling library, was not found{}", because(*process))
        .hint("python3 -m pip install nvidia-cuda-cupti-cu12 (for CUDA 13: nvidia-cuda-cupti)");
  if (const auto* process = first_of(recording, RecordingState::busy))
    return fail(kCode, "nothing was recorded: another tool is using CUPTI{}", because(*process))
        .hint("run the program without its own profiler, and not under nsys or ncu");
  if (options.of_running && first_of(recording, RecordingState::stopped_full) == nullptr && options.range.empty() &&
      !options.profiler_api)
    return fail(kCode, "nothing was recorded: the process did no work on a GPU meanwhile{}",
                has_hooks ? ", and called no PyTorch or ONNX model" : "")
        .hint("record it while it has work, or longer: --duration 1m");
  if (recording.processes.empty() && !has_hooks)
    return fail(kCode, "nothing was recorded: no process of the program used CUDA")
        .hint("check that it runs on a GPU; without --no-modules, calls of PyTorch and ONNX models are recorded too");
  if (recording.processes.empty())
    return fail(kCode, "nothing was recorded: no process of the program used CUDA, or called a PyTorch or ONNX model")
        .hint(
            "check that it runs on a GPU, and that Python gets PYTHONPATH (not with -I or -E, nor in an environment of "
            "its own); an ONNX model alone: ridgeline profile model.onnx");
  if (!options.range.empty() && first_of(recording, RecordingState::stopped_full) == nullptr)
    return fail(kCode, "nothing was recorded: --range {}: no such range began", options.range)
        .hint(
            "check the name of the range (NVTX, record_function, nn.Module), and leave out --steps and --warmup-steps");
  if (first_of(recording, RecordingState::waiting) != nullptr) {
    if (options.warmup_steps)
      return fail(kCode, "nothing was recorded: the program ended within its --warmup-steps {}", *options.warmup_steps)
          .hint("give fewer, or run more steps");
    if (options.profiler_api)
      return fail(kCode,
                  "nothing was recorded: --capture-range cudaProfilerApi: the program did not call "
                  "cudaProfilerStart")
          .hint("in PyTorch: torch.cuda.profiler.start() and stop(); or leave the option out");
    if (options.delay_s)
      return fail(kCode, "nothing was recorded: the program ended within its --delay of {:g} s", *options.delay_s)
          .hint("give a shorter one");
  }
  if (const auto* process = first_of(recording, RecordingState::stopped_full);
      process != nullptr && !process->why.empty())
    return fail(kCode, "nothing was recorded: the recording could not be written: {}", process->why)
        .hint("free space in the temporary folder, or set TMPDIR to another one");
  if (first_of(recording, RecordingState::stopped_full) != nullptr)
    return fail(kCode, "nothing was recorded: --max-size is too small for a single block of events")
        .hint("give more, for example --max-size 500MB");
  const auto& all = recording.processes;
  if (std::none_of(all.begin(), all.end(), [](const auto& one) { return one.uses_cuda; }))
    return fail(kCode,
                "nothing was recorded: the program did not use CUDA, and ended before a call of a PyTorch model did")
        .hint("a program that is killed loses its last moments; let it run longer");
  return fail(kCode, "nothing was recorded: the program used CUDA, but no event reached the recording")
      .hint("{}", options.has_begin() || options.duration_s ? "record without options that choose a part of it"
                                                            : "check that it launches work on a GPU");
}

}  // namespace ridgeline::campaign
