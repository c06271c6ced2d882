// SPDX-License-Identifier: Apache-2.0
#include "execute/group_witness.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <thread>

#include "host/system_files.hpp"
#include "host/this_process.hpp"

namespace ridgeline::execute {
namespace {

[[noreturn]] void wait_for_the_end(pid_t parent) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent's pipes have to close when the parent and the command close them.
  ::close_range(0, ~0U, 0);
  while (::getppid() == parent) ::pause();
  ::_exit(0);
}

}  // namespace

GroupWitness::GroupWitness() noexcept {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) wait_for_the_end(parent);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

GroupWitness::~GroupWitness() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool GroupWitness::has_had(int signal) const noexcept {
  if (pid_ <= 0) return false;
  // The kernel reaches the processes of a group one after the other.
  constexpr int kLooks = 3;
  constexpr std::chrono::milliseconds kPause{5};
  const auto bit = std::uint64_t{1} << (signal - 1);
  const host::SystemFiles files;
  for (int look = 0; look < kLooks; ++look) {
    if ((host::pending_signals(files, pid_) & bit) != 0) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace ridgeline::execute
