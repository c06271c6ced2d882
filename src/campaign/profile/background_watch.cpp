// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/background_watch.hpp"

#include <signal.h>

#include <system_error>
#include <utility>

namespace ridgeline::campaign {

void BackgroundWatch::start(std::function<void()> watch) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);  // a thread begins with the mask of its maker
  try {
    thread_ = std::thread(std::move(watch));
  } catch (const std::system_error&) {
    // The program runs without.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool BackgroundWatch::wait(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, time, [this] { return ends_; });
}

void BackgroundWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace ridgeline::campaign
