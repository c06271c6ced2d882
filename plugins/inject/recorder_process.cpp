// SPDX-License-Identifier: Apache-2.0
// Which Recorder a process has: from its first call to its end, or from waking to the end of that recording.
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

#include "recorder.hpp"

namespace ridgeline::inject {
namespace {

std::atomic<Recorder*> recorder_of_process = nullptr;
std::atomic<bool> tried = false;
std::mutex making;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// A process that runs another program by exec keeps its number, and what was recorded before.
std::string free_stem(const std::string& wanted) {
  auto stem = wanted;
  for (int number = 2; ::access((stem + ".rltrace").c_str(), F_OK) == 0; ++number)
    stem = wanted + "." + std::to_string(number);
  return stem;
}

}  // namespace

Recorder* Recorder::of_process() {
  if (auto* recorder = recorder_of_process.load(std::memory_order_acquire); recorder != nullptr || tried)
    return recorder;
  const std::lock_guard lock(making);
  if (!tried.exchange(true)) {
    const auto folder = environment("RIDGELINE_TRACE_FOLDER");
    auto* recorder = folder.empty() ? nullptr : make(folder, environment("RIDGELINE_TRACE_OPTIONS"), false, nullptr);
    if (recorder != nullptr) recorder->start_writing();
    recorder_of_process = recorder;
  }
  return recorder_of_process;
}

Recorder* Recorder::make(const std::string& folder, const std::string& options, bool woken, std::string* why) {
  auto stem = free_stem(folder + "/" + std::to_string(::getpid()));
  auto log = trace::EventLog::create(stem + ".rltrace");
  if (!log) {  // the folder of another run: its program has ended, and this one outlived it
    if (why != nullptr) *why = log.error().message;
    return nullptr;
  }
  auto* recorder = new Recorder(*std::move(log), std::move(stem), Options::parse(options), woken);
  static std::once_flag once;
  std::call_once(once, [] {
    ::pthread_atfork([] { making.lock(); }, [] { making.unlock(); }, after_fork);
    std::atexit([] {
      const std::lock_guard lock(making);  // a recording that is ending is written first
      if (auto* here = recorder_of_process.load(); here != nullptr) here->at_exit();
      recorder_of_process = nullptr;
    });
  });
  return recorder;
}

/// The child has none of the parent's threads, and locks as they were: it begins anew when it asks for a recorder.
void Recorder::after_fork() {
  making.unlock();
  recorder_of_process = nullptr;
  tried = false;
  RangeNames::after_fork();
  ActivityBuffers::after_fork();
  forget_thread();
}

void Recorder::end_counting_at_exit() {
  // Exit handlers run last to first, and the one of make() may come after CUDA's own.
  static std::once_flag once;
  std::call_once(once, [] {
    std::atexit([] {
      if (auto* here = recorder_of_process.load(); here != nullptr) here->end_counting();
    });
  });
}

std::string Recorder::wake(const std::string& folder, const std::string& options, bool has_cuda) {
  const std::lock_guard lock(making);
  std::string why = "the process records already";
  if (recorder_of_process != nullptr) return why;
  auto* recorder = make(folder, options, true, &why);
  if (recorder == nullptr) return why;
  tried = true;
  recorder_of_process = recorder;
  if (has_cuda) recorder->add_cuda();
  recorder->start_writing();
  return {};
}

void Recorder::end() {
  const std::lock_guard lock(making);
  if (auto* recorder = recorder_of_process.exchange(nullptr); recorder != nullptr) recorder->at_exit();
}

}  // namespace ridgeline::inject
