// SPDX-License-Identifier: Apache-2.0
#include "execute/heartbeat.hpp"

#include <time.h>

#include <unistd.h>

#include <algorithm>

#include "execute/fork_server_client.hpp"
#include "execute/process_tree.hpp"
#include "host/process_cpu.hpp"

namespace ridgeline::execute {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr auto kLookInterval = std::chrono::milliseconds(250);
constexpr auto kFollowInterval = std::chrono::milliseconds(5);

std::int64_t process_cpu_ns() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Heartbeat::Heartbeat(WorkerStatus& status) : status_(status) {
  status_.beats.fetch_add(1, std::memory_order_relaxed);
  if (const char* pid = std::getenv(kForkServerPidVariable)) fork_server_ = static_cast<pid_t>(std::atoi(pid));
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Heartbeat::~Heartbeat() = default;

void Heartbeat::follow(const workload::Workload* workload) {
  {
    const std::lock_guard lock(mutex_);
    followed_ = workload;
  }
  changed_.notify_all();
}

void Heartbeat::look_at_children() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ < kLookInterval || !works_without_steps(status_.control.phase.load()) || !has_children()) return;
  looked_ = now;
  double seconds = 0;
  for (const auto root : {::getpid(), fork_server_})
    if (root > 0)
      for (const auto pid : read_tree(root).processes) seconds += host::process_cpu_s(pid).value_or(0);
  const auto ns = base::from_seconds(seconds).count();
  outside_ns_ += std::max<std::int64_t>(0, ns - children_ns_);  // those that have ended take theirs with them
  children_ns_ = ns;
}

void Heartbeat::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    status_.beats.fetch_add(1, std::memory_order_relaxed);
    look_at_children();
    status_.cpu_ns.store(process_cpu_ns() + outside_ns_, std::memory_order_relaxed);
    if (followed_ != nullptr) status_.control.phase.store(followed_->phase(), std::memory_order_relaxed);
    const bool following = followed_ != nullptr;
    changed_.wait_for(lock, stop, following ? kFollowInterval : kInterval,
                      [&] { return (followed_ != nullptr) != following; });
  }
}

}  // namespace ridgeline::execute
