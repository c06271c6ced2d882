// SPDX-License-Identifier: Apache-2.0
#include "base/cancel.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string_view>

namespace ridgeline::base {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> requested{false};
std::array<struct sigaction, kSignals.size()> before{};
bool installed = false;

void on_signal(int number) {
  if (!requested.exchange(true) || number != SIGINT) return;
  constexpr std::string_view kLine = "interrupted twice: ended at once\n";
  static_cast<void>(::write(STDERR_FILENO, kLine.data(), kLine.size()));
  ::_exit(130);
}

}  // namespace

void install_cancel_signals() noexcept {
  struct sigaction action {};
  action.sa_handler = &on_signal;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    ::sigaction(kSignals.at(i), &action, installed ? nullptr : &before.at(i));
  installed = true;
}

void restore_cancel_signals() noexcept {
  if (!installed) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals.at(i), &before.at(i), nullptr);
}

void request_cancel() noexcept { requested.store(true); }

bool cancel_requested() noexcept { return requested.load(std::memory_order_relaxed); }

}  // namespace ridgeline::base
