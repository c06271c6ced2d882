// SPDX-License-Identifier: Apache-2.0
// A program that uses CUDA, as far as a recorder can tell: it opens what CUDA_INJECTION64_PATH names as the driver
// does, and CUPTI (fakes/fake_cupti.cpp) has its launches. What it does is its first argument.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <nvtx3/nvToolsExt.h>

#include "counted_program.hpp"
#include "fakes/fake_cupti.h"

namespace {

constexpr const char* kGemm = "_Z4gemmPfi";
std::uint32_t correlation = 0;
void* library = nullptr;

void start_cuda() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr) return;
  library = ::dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return;
  }
  reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"))();
}

void launch(std::uint32_t stream = 7) { fake_cupti_launch(kGemm, stream, ++correlation); }

void step() {
  nvtxRangePushA("step");
  nvtxRangePushA("forward");
  launch();
  launch();
  nvtxRangePop();
  nvtxRangePop();
}

void wait_until_written() { std::this_thread::sleep_for(std::chrono::milliseconds(1'600)); }

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  // CUDA does not bear a fork once it has started.
  const bool forks = what == "forks";
  const auto child = forks ? ::fork() : -1;
  if (what == "starts_later") {  // Python opens the library before CUDA does
    auto* own = ::dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
    reinterpret_cast<void (*)(void (*)(std::int32_t, const char*))>(::dlsym(own, "ridgeline_trace_idle"))(
        [](std::int32_t, const char*) {});
    const auto begin = std::chrono::steady_clock::now();
    const auto end = begin + std::chrono::milliseconds(std::atoi(arguments[2]));
    for (bool started = false; std::chrono::steady_clock::now() < end;) {
      if (!started && std::chrono::steady_clock::now() > begin + (end - begin) / 2) {
        started = true;
        start_cuda();
      }
      step();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return 0;
  }
  start_cuda();
  if (const int code = run_counted(what, library); code >= 0) return code;
  if (what == "steps") {
    for (int i = 0, most = count > 2 ? std::atoi(arguments[2]) : 10; i < most; ++i) {
      if (library != nullptr) reinterpret_cast<void (*)()>(::dlsym(library, "ridgeline_trace_step"))();
      step();
      if (count > 2) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // that are no step's
  } else if (what == "many") {
    for (int i = 0, most = std::atoi(arguments[2]); i < most; ++i) launch();
  } else if (what == "killed") {
    step();
    wait_until_written();
    launch();
    std::raise(SIGKILL);
  } else if (forks) {
    step();
    if (child > 0) ::wait(nullptr);
  } else if (what == "forks_later") {
    step();
    if (::fork() == 0) {
      nvtxRangePushA("of the child");
      nvtxRangePop();
      std::exit(0);
    }
    ::wait(nullptr);
  } else if (what == "threads") {
    std::thread other([] {
      nvtxRangePushA("other thread");
      launch(8);
      nvtxRangePop();
    });
    step();
    other.join();
  } else if (what == "domains") {
    auto* domain = nvtxDomainCreateA("library");
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    nvtxRangePushA("outer");
    nvtxDomainRangePushEx(domain, &event);
    nvtxRangePop();  // of the other domain
    launch();
    nvtxDomainRangePop(domain);
    const auto begun = nvtxRangeStartA("begins and ends anywhere");
    std::thread([begun] { nvtxRangeEnd(begun); }).join();
  } else if (what == "execs") {
    step();
    wait_until_written();
    ::execl("/proc/self/exe", arguments[0], "plain", nullptr);
  } else if (what == "module") {
    for (const auto* name : {"nn.Module: blocks.01 (Block)", "nn.Module: blocks.0 (Block)"}) {
      nvtxRangePushA(name);
      launch();
      nvtxRangePop();
    }
  } else if (what == "backward") {
    for (const auto* name : {"training", "(backward)", "nn.Module: S_0"}) nvtxRangePushA(name);
    launch();
    for (int i = 0; i < 3; ++i) nvtxRangePop();
  } else if (what == "profiler_api") {
    step();
    for (int i = 0; i < 2; ++i) {
      fake_cupti_profiler(1);
      step();
      fake_cupti_profiler(0);
      step();
    }
  } else if (what == "graph") {
    nvtxRangePushA("model");
    nvtxRangePushA("layer");
    const auto node = fake_cupti_capture();
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangePushA("replay");
    fake_cupti_replay(kGemm, node, ++correlation);
    nvtxRangePop();
  } else if (what == "session_graph" && library != nullptr) {
    const auto name = reinterpret_cast<std::uint32_t (*)(const char*)>(::dlsym(library, "ridgeline_trace_name"));
    const auto push = reinterpret_cast<void (*)(std::uint32_t, std::int32_t)>(::dlsym(library, "ridgeline_trace_push"));
    push(name("run of vit.onnx"), 2);  // trace::RangeKind::python
    const auto node = fake_cupti_capture();
    reinterpret_cast<void (*)()>(::dlsym(library, "ridgeline_trace_pop"))();
    fake_cupti_replay(kGemm, node, ++correlation);
  } else if (what == "serves") {
    // Steps for so many seconds; forks, or runs another program by exec, in the middle.
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(nullptr, "registered");
    const std::string how = count > 3 ? arguments[3] : "";
    const auto begin = std::chrono::steady_clock::now();
    const auto end = begin + std::chrono::milliseconds(std::atoi(arguments[2]));
    std::puts("serves");
    std::fflush(stdout);
    if (how == "forks" && ::fork() == 0) {
      std::this_thread::sleep_until(end);
      ::_exit(0);
    }
    while (std::chrono::steady_clock::now() < end) {
      if (library != nullptr && how != "without_steps")
        reinterpret_cast<void (*)()>(::dlsym(library, "ridgeline_trace_step"))();
      nvtxRangePushEx(&event);
      step();
      nvtxRangePop();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (how == "execs") ::execl("/proc/self/exe", arguments[0], "serves", arguments[2], nullptr);
    return 7;
  } else if (what == "idle_records") {
    // Whether CUPTI is as it was before a recording, which comes within so many milliseconds.
    bool recorded = fake_cupti_records() != 0 || fake_cupti_enabled() != 0;
    if (recorded) return 1;
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::atoi(arguments[2]));
         std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      recorded = recorded || fake_cupti_records() != 0;
      step();
    }
    return !recorded ? 2 : fake_cupti_enabled() != 0 ? 3 : 0;
  } else if (what == "without_times") {
    step();
    fake_cupti_launch(kGemm, 7, FAKE_CUPTI_WITHOUT_TIME);
  } else if (what == "aborts") {
    wait_until_written();
    std::abort();
  } else {
    for (int i = 0; i < 3; ++i) step();
    std::puts("its own output");
    return 3;
  }
  return 0;
}
