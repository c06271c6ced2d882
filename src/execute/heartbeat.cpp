// SPDX-License-Identifier: Apache-2.0
#include "execute/heartbeat.hpp"

#include <time.h>

#include <chrono>

namespace ridgeline::execute {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr auto kFollowInterval = std::chrono::milliseconds(5);

std::int64_t process_cpu_ns() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Heartbeat::Heartbeat(WorkerStatus& status) : status_(status) {
  status_.beats.fetch_add(1, std::memory_order_relaxed);
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

void Heartbeat::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    status_.beats.fetch_add(1, std::memory_order_relaxed);
    status_.cpu_ns.store(process_cpu_ns(), std::memory_order_relaxed);
    if (followed_ != nullptr) status_.control.phase.store(followed_->phase(), std::memory_order_relaxed);
    const bool following = followed_ != nullptr;
    changed_.wait_for(lock, stop, following ? kFollowInterval : kInterval,
                      [&] { return (followed_ != nullptr) != following; });
  }
}

}  // namespace ridgeline::execute
