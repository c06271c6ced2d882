// SPDX-License-Identifier: Apache-2.0
#include "base/cancel.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace ridgeline::base {
namespace {

std::atomic<bool> requested{false};

void on_signal(int number) {
  if (requested.exchange(true) && number == SIGINT) ::_exit(130);
}

}  // namespace

void install_cancel_signals() noexcept {
  struct sigaction action {};
  action.sa_handler = &on_signal;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

bool cancel_requested() noexcept { return requested.load(std::memory_order_relaxed); }

}  // namespace ridgeline::base
