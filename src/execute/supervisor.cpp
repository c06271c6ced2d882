// SPDX-License-Identifier: Apache-2.0
#include "execute/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/cancel.hpp"
#include "base/clock.hpp"
#include "execute/messages.hpp"
#include "execute/process_tree.hpp"
#include "host/this_process.hpp"

namespace ridgeline::execute {
namespace {

constexpr double kGraceS = 2;         ///< for a polite end when the user or a limit asks
constexpr double kShortGraceS = 0.5;  ///< for what outlived its command, and when nobody is left to ask
constexpr int kSupervisorPollMs = 500;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::optional<std::int64_t> difference(std::optional<std::int64_t> after, std::optional<std::int64_t> before) {
  if (!after || !before) return std::nullopt;
  return *after - *before;
}

/// Between fork and exec: system calls only.
[[noreturn]] void run_command(char* const* argv, int report_fd, pid_t parent) noexcept {
  ::setsid();
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGQUIT}) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::execvp(argv[0], argv);
  const int error = errno;
  (void)!::write(report_fd, &error, sizeof error);
  ::_exit(127);
}

class Supervisor {
 public:
  SupervisorReport run(const std::vector<std::string>& command) {
    const auto before = host::storage_bytes();
    rusage self{};
    ::getrusage(RUSAGE_SELF, &self);
    const auto start = base::system_clock().now();
    if (!launch(command)) return report_;
    watch();
    report_.wall_s = base::to_seconds(ended_ - start);
    collect();
    rusage children{};
    ::getrusage(RUSAGE_CHILDREN, &children);
    report_.cpu_s = seconds(children.ru_utime) + seconds(children.ru_stime);
    // Until it calls exec, a forked child is as large as this process.
    if (children.ru_maxrss > self.ru_maxrss) report_.peak_rss_bytes = std::int64_t{children.ru_maxrss} * 1024;
    const auto after = host::storage_bytes();
    report_.read_bytes = difference(after.read, before.read);
    report_.write_bytes = difference(after.written, before.written);
    return report_;
  }

 private:
  bool launch(const std::vector<std::string>& command) {
    std::array<int, 2> pipe{-1, -1};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return refuse(command, errno);
    auto texts = command;
    std::vector<char*> argv;
    for (auto& text : texts) argv.push_back(text.data());
    argv.push_back(nullptr);
    const auto parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) run_command(argv.data(), pipe[1], parent);
    const int fork_error = errno;
    ::close(pipe[1]);
    int error = 0;
    ssize_t got = 0;
    do {
      got = pid_ < 0 ? 0 : ::read(pipe[0], &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    ::close(pipe[0]);
    if (pid_ < 0) return refuse(command, fork_error);
    if (got == static_cast<ssize_t>(sizeof error)) {
      ::waitpid(pid_, nullptr, 0);
      return refuse(command, error);
    }
    return true;
  }

  bool refuse(const std::vector<std::string>& command, int error) {
    report_.launch_error = messages::command_not_started({.command = command.front(), .reason = std::strerror(error)});
    return false;
  }

  /// Waits for the command's end, asked for or not.
  void watch() {
    const int handle = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
    while (!has_ended()) {
      std::array<pollfd, 2> events{pollfd{kSupervisorSocket, POLLIN, 0}, pollfd{handle, POLLIN, 0}};
      // Without a process descriptor (kernels before 5.3) look again every few milliseconds.
      ::poll(events.data(), handle >= 0 ? 2 : 1, handle >= 0 ? kSupervisorPollMs : 2);
      reap_children(pid_);
      if (base::cancel_requested()) return stop(kGraceS, handle);
      if (events[0].revents == 0) continue;
      char byte = 0;
      const auto got = ::recv(kSupervisorSocket, &byte, 1, MSG_DONTWAIT);
      if (got > 0) return stop(kGraceS, handle);
      if (got == 0 || (errno != EAGAIN && errno != EINTR)) return stop(kShortGraceS, handle);
    }
    ended_ = base::system_clock().now();
    if (handle >= 0) ::close(handle);
  }

  void stop(double grace_s, int handle) {
    if (handle >= 0) ::close(handle);
    report_.survivors = end_descendants(grace_s, [&](pid_t pid, int status) {
      if (pid == pid_) take_status(status);
    });
    ended_ = base::system_clock().now();
    asked_ = true;
  }

  [[nodiscard]] bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) != 0 || info.si_pid == pid_;
  }

  void take_status(int raw) {
    if (WIFSIGNALED(raw))
      report_.signal = WTERMSIG(raw);
    else
      report_.exit_code = WEXITSTATUS(raw);
  }

  /// The status of a command that ended by itself, and an end to what it left behind.
  void collect() {
    if (asked_) return;
    int raw = 0;
    if (::waitpid(pid_, &raw, 0) == pid_) take_status(raw);
    reap_children(0);
    if (!has_children()) return;
    report_.left_behind = std::max(1, static_cast<int>(read_tree(::getpid()).processes.size()));
    report_.survivors = end_descendants(kShortGraceS, [](pid_t, int) {});
  }

  SupervisorReport report_;
  pid_t pid_ = -1;
  base::Nanoseconds ended_{0};
  bool asked_ = false;
};

}  // namespace

int supervise(const std::vector<std::string>& command) {
  // The socket tells of the parent's death; being killed with it would leave the command's own children alone.
  ::prctl(PR_SET_PDEATHSIG, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::fcntl(kSupervisorSocket, F_SETFD, FD_CLOEXEC);
  ::signal(SIGPIPE, SIG_IGN);
  const auto line = base::dump_json(Supervisor().run(command)) + "\n";
  return ::send(kSupervisorSocket, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size()) ? 0 : 1;
}

RL_DEFINE_JSON(SupervisorReport, launch_error, exit_code, signal, wall_s, cpu_s, peak_rss_bytes, read_bytes,
               write_bytes, left_behind, survivors)

}  // namespace ridgeline::execute
