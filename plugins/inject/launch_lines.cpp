// SPDX-License-Identifier: Apache-2.0
#include "launch_lines.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "python_stack.hpp"

namespace ridgeline::inject {
namespace {

constexpr std::int64_t kKeptNs = 5'000'000'000;  // CUPTI delivers records within a second
constexpr std::size_t kMostTimes = 500'000;      // of a thread whose records do not come

}  // namespace

struct LaunchLines::Python {
  PythonLayout layout;
  PythonFiles files;
};

struct LaunchLines::Thread {
  struct Time {
    std::int64_t at_ns = 0;
    const std::string* line = nullptr;
  };
  explicit Thread(const Python& of) : number(::syscall(SYS_gettid)), stack(of.layout, of.files) {}

  const std::int64_t number;
  PythonStack stack;  ///< of the thread itself
  std::mutex mutex;
  std::deque<Time> times;  ///< in their order
};

struct LaunchLines::Threads {
  std::mutex mutex;
  std::vector<Thread*> made;
  std::unordered_map<std::int64_t, Thread*> by_number;  ///< of the thread that takes
};

namespace {

/// Of this thread. Without a destructor: threads call CUDA as they end, too.
struct Own {
  LaunchLines::Thread* thread = nullptr;
  const LaunchLines::Threads* of = nullptr;
};
thread_local Own own;

}  // namespace

LaunchLines::LaunchLines() : threads_(new Threads) {}

LaunchLines& LaunchLines::of_process() {
  static auto* lines = new LaunchLines;
  return *lines;
}

void LaunchLines::start(const PythonLayout& layout, PythonFiles files) {
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(nullptr, nullptr, [] { of_process().forget_threads(); }); });
  // Never freed, as threads may read them.
  python_.store(new Python{layout, std::move(files)}, std::memory_order_release);
  forget_threads();
}

void LaunchLines::stop() { python_.store(nullptr, std::memory_order_release); }

LaunchLines::Thread* LaunchLines::of_thread() {
  const auto* python = python_.load(std::memory_order_acquire);
  if (python == nullptr) return nullptr;
  auto& here = own;
  if (auto* threads = threads_.load(std::memory_order_relaxed); threads != here.of) {
    if (!PythonStack::is_of_python(python->layout)) return nullptr;
    here = {new Thread(*python), threads};
    const std::lock_guard lock(threads->mutex);
    threads->made.push_back(here.thread);
  }
  return here.thread;
}

const std::string* LaunchLines::line() {
  auto* thread = of_thread();
  return thread == nullptr ? nullptr : thread->stack.line();
}

void LaunchLines::time_given(std::int64_t now_ns) {
  auto* thread = of_thread();
  const auto* found = thread == nullptr ? nullptr : thread->stack.line();
  if (found == nullptr) return;
  const std::lock_guard lock(thread->mutex);
  thread->times.push_back({now_ns, found});
  if (thread->times.size() > kMostTimes) thread->times.pop_front();
}

const std::string* LaunchLines::take(std::int64_t thread, std::int64_t at_ns) {
  auto& threads = *threads_.load(std::memory_order_relaxed);
  {
    const std::lock_guard lock(threads.mutex);
    for (auto* one : std::exchange(threads.made, {})) threads.by_number[one->number] = one;
  }
  const auto known = threads.by_number.find(thread);
  if (known == threads.by_number.end()) return nullptr;
  const std::lock_guard lock(known->second->mutex);
  auto& times = known->second->times;
  while (!times.empty() && times.front().at_ns < at_ns - kKeptNs) times.pop_front();
  const auto found =
      std::partition_point(times.begin(), times.end(), [at_ns](const auto& one) { return one.at_ns < at_ns; });
  if (found == times.end() || found->at_ns != at_ns) return nullptr;
  ++taken_;
  return found->line;
}

void LaunchLines::forget_threads() { threads_ = new Threads; }

}  // namespace ridgeline::inject
