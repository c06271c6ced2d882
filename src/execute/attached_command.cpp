// SPDX-License-Identifier: Apache-2.0
#include "execute/attached_command.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"

namespace ridgeline::execute {
namespace {

constexpr int kSignalled = 128;  // what shells add to a signal's number
constexpr int kInterruptsToLeave = 2;
// What is sent to us alone is meant for the command.
constexpr std::array kPassedOn{SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/// Keeps signals for sigwaitinfo as long as it lives.
class HeldSignals {
 public:
  HeldSignals() noexcept {
    ::sigemptyset(&set_);
    for (const int number : {SIGINT, SIGQUIT, SIGCHLD}) ::sigaddset(&set_, number);
    for (const int number : kPassedOn) ::sigaddset(&set_, number);
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
    // Ignored, it would reap the child unseen.
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &action, &child_before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() {
    ::sigaction(SIGCHLD, &child_before_, nullptr);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  /// The next one; -1: none came for a second, or the wait itself was interrupted.
  [[nodiscard]] int next() const noexcept {
    const timespec second{.tv_sec = 1, .tv_nsec = 0};
    return ::sigtimedwait(&set_, nullptr, &second);
  }
  /// The next one that is already there; -1: none.
  [[nodiscard]] int pending() const noexcept {
    const timespec at_once{};
    return ::sigtimedwait(&set_, nullptr, &at_once);
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
  struct sigaction child_before_ {};
};

}  // namespace

int start_code(const std::string& program) {
  if (!base::find_program(program).empty()) return 0;
  std::error_code ignored;
  if (program.find('/') != std::string::npos)
    return std::filesystem::exists(program, ignored) ? kNotExecutable : kNotFound;
  const char* path = std::getenv("PATH");
  for (const auto& folder : base::split(path != nullptr ? path : "", ':'))
    if (!program.empty() && std::filesystem::is_regular_file(std::filesystem::path(folder) / program, ignored))
      return kNotExecutable;
  return kNotFound;
}

base::Result<AttachedEnd> run_attached(const std::vector<std::string>& argv,
                                       const std::vector<std::pair<std::string, std::string>>& environment,
                                       const std::function<void()>& every_second) {
  const HeldSignals signals;
  RL_TRY_ASSIGN(auto child, base::Subprocess::spawn({.argv = argv, .environment = environment, .attached = true}));
  AttachedEnd end;
  int interrupts = 0;
  const auto take = [&](int number) {
    if (number == SIGINT) ++interrupts;
    if (std::find(kPassedOn.begin(), kPassedOn.end(), number) != kPassedOn.end()) child.signal_group(number);
  };
  auto status = child.poll();
  for (; !status && interrupts < kInterruptsToLeave; status = child.poll()) {
    const int number = signals.next();
    take(number);
    if (number < 0 && every_second) every_second();
  }
  // A Ctrl-C that ended the command has reached us, too, if not yet been read.
  for (int number = signals.pending(); number >= 0; number = signals.pending()) take(number);
  end.is_interrupted = interrupts > 0;
  end.is_left = !status;
  if (end.is_interrupted) base::request_cancel();
  if (status && status->signal) end.signal = *status->signal;
  if (end.is_left)
    end.exit_code = kSignalled + SIGINT;
  else
    end.exit_code = status->signal ? kSignalled + *status->signal : status->exit_code.value_or(0);
  return end;
}

}  // namespace ridgeline::execute
