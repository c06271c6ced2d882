// SPDX-License-Identifier: Apache-2.0
#include "execute/attached_command.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/cancel.hpp"
#include "base/file.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "execute/group_witness.hpp"

namespace ridgeline::execute {
namespace {

constexpr int kSignalled = 128;  // what shells add to a signal's number
// What is sent to us alone is meant for the command.
constexpr std::array kPassedOn{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
// `timeout` signals its child, and then its whole group.
constexpr std::chrono::milliseconds kSameRequest{100};

/// Keeps signals for sigwaitinfo as long as it lives.
class HeldSignals {
 public:
  HeldSignals() noexcept {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGCHLD);
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

bool is_stop(int signal) noexcept { return signal == SIGINT || signal == SIGTERM; }

/// Requests to stop: the first is the command's, a later one ends the wait for it.
class StopRequests {
 public:
  /// False: it is the one before, sent twice.
  bool add(int signal) noexcept {
    const auto now = std::chrono::steady_clock::now();
    if (first_ != 0 && now - at_ < kSameRequest) return false;
    (first_ == 0 ? first_ : last_) = signal;
    at_ = now;
    return true;
  }
  [[nodiscard]] bool any() const noexcept { return first_ != 0; }
  /// The signal that ends the wait; 0: none.
  [[nodiscard]] int last() const noexcept { return last_; }

 private:
  int first_ = 0;
  int last_ = 0;
  std::chrono::steady_clock::time_point at_;
};

/// Whether the command, a process of our group, has had this signal without us.
bool has_reached_command(int signal, pid_t command, const GroupWitness& witness) noexcept {
  if (::getpgid(command) != ::getpgrp()) return false;
  return witness.is_there() ? witness.has_had(signal) : signal == SIGINT || signal == SIGQUIT;
}

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
  auto witness = std::make_unique<GroupWitness>();
  RL_TRY_ASSIGN(auto child, base::Subprocess::spawn({.argv = argv, .environment = environment, .attached = true}));
  AttachedEnd end;
  StopRequests stops;
  const auto take = [&](int number) {
    if (is_stop(number) && !stops.add(number)) return;
    if (std::find(kPassedOn.begin(), kPassedOn.end(), number) == kPassedOn.end() || stops.last() != 0) return;
    if (!has_reached_command(number, child.pid(), *witness))
      child.signal_group(number);
    else
      witness = std::make_unique<GroupWitness>();  // this one has had the signal for good
  };
  auto status = child.poll();
  for (; !status && stops.last() == 0; status = child.poll()) {
    const int number = signals.next();
    take(number);
    if (number < 0 && every_second) every_second();
  }
  // A Ctrl-C that ended the command has reached us, too, if not yet been read.
  for (int number = signals.pending(); number >= 0; number = signals.pending())
    if (is_stop(number)) static_cast<void>(stops.add(number));
  end.is_interrupted = stops.any();
  end.is_left = !status;
  if (end.is_interrupted) base::request_cancel();
  if (status && status->signal) end.signal = *status->signal;
  if (end.is_left)
    end.exit_code = kSignalled + stops.last();
  else
    end.exit_code = status->signal ? kSignalled + *status->signal : status->exit_code.value_or(0);
  return end;
}

}  // namespace ridgeline::execute
