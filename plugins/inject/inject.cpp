// SPDX-License-Identifier: Apache-2.0
// What CUDA's driver, NVTX and Python call of this library.
#include <cstdint>

#include "exported.hpp"
#include "idle_recorder.hpp"
#include "nvtx_ranges.hpp"
#include "recorder.hpp"

using ridgeline::inject::IdleRecorder;
using ridgeline::inject::Recorder;

/// The driver calls it in each process that uses CUDA (CUDA_INJECTION64_PATH). 1: all is well.
RL_EXPORT int InitializeInjection() {
  if (auto* recorder = Recorder::of_process(); recorder != nullptr && !recorder->is_woken())
    recorder->add_cuda();
  else
    IdleRecorder::start(
        true);  // what is woken adds CUDA itself: waiting for that here, amid CUDA's start, could be for ever
  return 1;
}

/// NVTX calls it for each image that uses it (NVTX_INJECTION64_PATH), and never again. 1: its calls are taken.
RL_EXPORT int InitializeInjectionNvtx2(void* get_table) {
  const bool may_record = Recorder::of_process() != nullptr || IdleRecorder::is_wanted();
  return may_record && ridgeline::inject::take_nvtx(get_table) ? 1 : 0;
}

/// Python has hooks for recordings (IdleRecorder::Hooks); nullptr: no longer.
RL_EXPORT void ridgeline_trace_idle(void (*hooks)(std::int32_t stage, const char* options)) {
  IdleRecorder::set_hooks(hooks);
  if (hooks != nullptr && Recorder::of_process() == nullptr) IdleRecorder::start(false);
}

/// Hooks begin, which call the functions below. 0: this process is recorded.
RL_EXPORT std::int32_t ridgeline_trace_start() {
  auto* recorder = Recorder::of_process();
  if (recorder != nullptr) recorder->hooks_start();
  return recorder != nullptr ? 0 : 1;
}

/// The number of a text, the same whenever it is asked for in this process.
RL_EXPORT std::uint32_t ridgeline_trace_name(const char* text) {
  return text != nullptr ? ridgeline::inject::RangeNames::of_process().number(text) : 0;
}

/// Begins a range of this thread. `kind`: 0 an operation, 1 an annotation, 2 Python.
RL_EXPORT void ridgeline_trace_push(std::uint32_t name, std::int32_t kind) {
  if (auto* recorder = Recorder::of_process(); recorder != nullptr && kind >= 0 && kind <= 2)
    recorder->push(name, static_cast<ridgeline::trace::RangeKind>(kind), nullptr);
}

/// Ends the innermost range of this thread.
RL_EXPORT void ridgeline_trace_pop() {
  if (auto* recorder = Recorder::of_process(); recorder != nullptr) recorder->pop(nullptr);
}

/// A CUDA graph is captured from now on (1), or no longer (0).
RL_EXPORT void ridgeline_trace_capture(std::int32_t begins) {
  if (auto* recorder = Recorder::of_process(); recorder != nullptr) recorder->capture(begins != 0);
}

/// The program called cudaProfilerStart (1), or cudaProfilerStop (0).
RL_EXPORT void ridgeline_trace_profiler(std::int32_t starts) {
  if (auto* recorder = Recorder::of_process(); recorder != nullptr) recorder->profiler_called(starts != 0);
}

/// Writes what there is: the process is about to end by _exit, a signal or exec, which ends the ranges of this thread.
RL_EXPORT void ridgeline_trace_flush() {
  if (auto* recorder = Recorder::of_process(); recorder != nullptr) recorder->flush();
}

/// A step begins: an iteration of a training, a call of the model.
RL_EXPORT void ridgeline_trace_step() {
  if (auto* recorder = Recorder::of_process(); recorder != nullptr) recorder->step();
}
