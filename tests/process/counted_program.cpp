// SPDX-License-Identifier: Apache-2.0
#include "counted_program.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <functional>
#include <map>
#include <thread>

#include <nvtx3/nvToolsExt.h>

#include "fakes/fake_cupti.h"

namespace counted {
namespace {

constexpr const char* kGemm = "_Z4gemmPfi";
constexpr const char* kNorm = "_Z9layernormPf";
constexpr const char* kReduce = "_Z32ncclDevKernel_AllReduce_Sum_f32_v";
constexpr int kSteps = 14;

std::uint32_t correlation = 0;
void* library = nullptr;

void call(const char* function) {
  if (library != nullptr) reinterpret_cast<void (*)()>(::dlsym(library, function))();
}
void capture(int begins) {
  if (library != nullptr) reinterpret_cast<void (*)(std::int32_t)>(::dlsym(library, "ridgeline_trace_capture"))(begins);
}
void launch(const char* kernel, std::uint32_t stream = 7) { fake_cupti_launch(kernel, stream, ++correlation); }

/// A step: `more` is done between its two modules.
void step(const std::function<void()>& more = {}) {
  call("ridgeline_trace_step");
  nvtxRangePushA("model");
  nvtxRangePushA("linear");
  launch(kGemm);
  nvtxRangePop();
  if (more) more();
  nvtxRangePushA("norm");
  launch(kNorm);
  nvtxRangePop();
  nvtxRangePop();
}

void backward() {
  std::thread([] {
    nvtxRangePushA("backward");
    launch(kGemm, 9);
    nvtxRangePop();
  }).join();
}
void two_launches_at_once() {
  fake_cupti_launch_begin(kGemm, 7);
  std::thread([] { launch(kNorm, 9); }).join();
  fake_cupti_launch_end();
}
/// Exit code 5 where the capture was disturbed.
int result = 0;
void capture_stream() {
  if (fake_cupti_capture_stream(1) == 0) result = 5;
  launch(kGemm);
  if (fake_cupti_capture_stream(0) == 0) result = 5;
}
void capture_as_pytorch() {
  capture(1);
  capture_stream();
  capture(0);
}
void overlapping_streams() {
  fake_cupti_kernels_last(1'000'000'000);
  fake_cupti_launch(kGemm, 7, ++correlation);
  fake_cupti_launch(kNorm, 8, ++correlation);
  fake_cupti_kernels_last(1'000);
}
void many_launches() {
  for (int i = 0; i < 20'005; ++i) fake_cupti_launch(kGemm, 7, ++correlation);
}

}  // namespace
}  // namespace counted

int run_counted(const std::string& what, void* inject_library) {
  static const std::map<std::string, std::function<void()>> kInCountedStep{
      {"counted", {}},
      {"counted_backward", counted::backward},
      {"counted_at_once", counted::two_launches_at_once},
      {"counted_failing", [] { fake_cupti_launch_failing(counted::kNorm); }},
      {"counted_unseen", [] { fake_cupti_launch_unseen(); }},
      {"counted_capture", counted::capture_as_pytorch},
      {"counted_capture_unannounced", counted::capture_stream},
      {"counted_collective", [] { counted::launch(counted::kReduce); }},
      {"counted_many", counted::many_launches},
  };
  static const std::map<std::string, std::function<void()>> kInFirstStep{
      {"recorded_collective", [] { counted::launch(counted::kReduce); }},
      {"recorded_overlap", counted::overlapping_streams},
  };
  static const std::function<void()> kReplay = [] { fake_cupti_replay(counted::kGemm, 42, ++counted::correlation); };
  counted::library = inject_library;
  const auto in_counted = kInCountedStep.find(what);
  const auto first = kInFirstStep.find(what);
  const bool replays = what == "counted_graphs";
  if (in_counted == kInCountedStep.end() && what != "counted_capture_early" && first == kInFirstStep.end() && !replays)
    return -1;
  for (int i = 1; i <= counted::kSteps; ++i) {
    if (i == 1 && first != kInFirstStep.end())
      counted::step(first->second);
    else if (i == 5 && in_counted != kInCountedStep.end())
      counted::step(in_counted->second);
    else if (i == 2 && what == "counted_capture_early")
      counted::step(counted::capture_as_pytorch);
    else if (i == 6 && replays)
      counted::step([] {
        counted::capture(1);
        counted::capture(0);
        kReplay();
      });
    else if (i > 6 && replays)
      counted::step(kReplay);
    else
      counted::step();
  }
  return counted::result;
}
