// SPDX-License-Identifier: Apache-2.0
// fork and exec by hand rather than posix_spawn: resource limits and the parent-death signal must be set in the child.
// Between fork and exec only async-signal-safe calls are made, because the parent may have threads.
#include "base/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/cancel.hpp"

namespace ridgeline::base {
namespace {

constexpr int kFirstPassedFd = 3;

void close_fd(int& fd) noexcept {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_fd(read);
    close_fd(write);
  }
  [[nodiscard]] bool open() noexcept {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read = fds[0];
    write = fds[1];
    return true;
  }
};

/// What the child reports through the close-on-exec pipe when it could not become the program.
struct LaunchFailure {
  int error = 0;
  char step[24] = {};
};

/// Everything the child needs, laid out before the fork so that it allocates nothing.
struct ChildPlan {
  std::vector<char*> argv;
  std::vector<char*> envp;
  const std::vector<std::pair<int, int>>* file_descriptors = nullptr;
  std::vector<int> parked;  ///< room for the duplicated descriptors
  int output_fd = -1;       ///< -1: inherited
  int report_fd = -1;
  pid_t parent = 0;
  const SubprocessOptions* options = nullptr;
};

[[noreturn]] void give_up(const ChildPlan& plan, const char* step) noexcept {
  LaunchFailure failure;
  failure.error = errno;
  std::strncpy(failure.step, step, sizeof failure.step - 1);
  (void)!::write(plan.report_fd, &failure, sizeof failure);
  ::_exit(127);
}

void unblock_signals() noexcept {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void reset_signals() noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGQUIT}) ::sigaction(signal, &action, nullptr);
  unblock_signals();
}

void limit_resources(const ChildPlan& plan) noexcept {
  if (!plan.options->allow_core_dumps) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
  }
  if (plan.options->address_space_bytes) {
    const rlimit limit{*plan.options->address_space_bytes, *plan.options->address_space_bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) give_up(plan, "limit address space");
  }
}

/// Parent's and child's numbers may overlap, so every descriptor is first copied above all of the targets; only then
/// are the standard ones replaced, which may be among them.
void place_descriptors(ChildPlan& plan) noexcept {
  const auto& wanted = *plan.file_descriptors;
  int above = std::max(kFirstPassedFd, plan.report_fd);
  for (const auto& [from, to] : wanted) above = std::max({above, from, to});
  const int report = ::fcntl(plan.report_fd, F_DUPFD_CLOEXEC, above + 1);
  if (report < 0) give_up(plan, "duplicate");
  plan.report_fd = report;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    plan.parked[i] = ::fcntl(wanted[i].first, F_DUPFD_CLOEXEC, above + 1);
    if (plan.parked[i] < 0) give_up(plan, "duplicate");
  }
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || ::dup2(null, STDIN_FILENO) < 0) give_up(plan, "open /dev/null");
  if (plan.output_fd >= 0) {
    if (::dup2(plan.output_fd, STDOUT_FILENO) < 0 || ::dup2(plan.output_fd, STDERR_FILENO) < 0)
      give_up(plan, "redirect");
  }
  // Whatever else the parent holds open (databases, sockets of libraries) must not leak; ignored by old kernels.
  ::close_range(kFirstPassedFd, ~0U, CLOSE_RANGE_CLOEXEC);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (::dup2(plan.parked[i], wanted[i].second) < 0) give_up(plan, "pass descriptors");
}

[[noreturn]] void run_child(ChildPlan& plan) noexcept {
  if (plan.options->attached) {
    restore_cancel_signals();
    unblock_signals();
  } else {
    ::setpgid(0, 0);
    reset_signals();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent) ::_exit(127);  // the parent died before the signal was armed
    place_descriptors(plan);
    limit_resources(plan);
  }
  ::execvpe(plan.argv[0], plan.argv.data(), plan.envp.data());
  give_up(plan, "execute");
}

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(changes.begin(), changes.end(), [&](const auto& c) { return c.first == name; });
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [name, value] : changes) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

ExitStatus to_exit_status(int raw, const rusage& usage) noexcept {
  ExitStatus status;
  if (WIFSIGNALED(raw))
    status.signal = WTERMSIG(raw);
  else
    status.exit_code = WEXITSTATUS(raw);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  status.usage = {seconds(usage.ru_utime), seconds(usage.ru_stime), std::int64_t{usage.ru_maxrss} * 1024};
  return status;
}

}  // namespace

Result<Subprocess> Subprocess::spawn(const SubprocessOptions& options) {
  if (options.argv.empty() || options.argv.front().empty())
    return fail(ErrorCode::invalid_argument, "cannot start a program: its name is empty");
  const auto& program = options.argv.front();
  const bool captures = options.capture_output && !options.attached;

  Pipe output;
  Pipe report;
  if (!report.open() || (captures && !output.open()))
    return fail(ErrorCode::io, "cannot start {}: no pipe: {}", program, std::strerror(errno));

  auto arguments = options.argv;
  auto environment = merged_environment(options.environment);
  ChildPlan plan;
  plan.argv = pointers(arguments);
  plan.envp = pointers(environment);
  plan.file_descriptors = &options.file_descriptors;
  plan.parked.resize(options.file_descriptors.size());
  plan.output_fd = output.write;
  plan.report_fd = report.write;
  plan.parent = ::getpid();
  plan.options = &options;

  const pid_t pid = ::fork();
  if (pid < 0) return fail(ErrorCode::io, "cannot start {}: fork: {}", program, std::strerror(errno));
  if (pid == 0) run_child(plan);

  Subprocess child;
  child.pid_ = pid;
  child.attached_ = options.attached;
  close_fd(report.write);
  close_fd(output.write);
  LaunchFailure failure;
  ssize_t got = 0;
  do {
    got = ::read(report.read, &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof failure)) {
    child.wait();
    const auto code = failure.error == ENOENT ? ErrorCode::not_found : ErrorCode::io;
    return fail(code, "cannot start {}: {}: {}", program, failure.step, std::strerror(failure.error));
  }
  if (captures) {
    ::fcntl(output.read, F_SETFL, O_NONBLOCK);
    child.output_fd_ = std::exchange(output.read, -1);
  }
  return child;
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_fd_(std::exchange(other.output_fd_, -1)),
      attached_(other.attached_),
      status_(std::exchange(other.status_, std::nullopt)) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, -1);
    output_fd_ = std::exchange(other.output_fd_, -1);
    attached_ = other.attached_;
    status_ = std::exchange(other.status_, std::nullopt);
  }
  return *this;
}

Subprocess::~Subprocess() { end(); }

void Subprocess::end() noexcept {
  if (pid_ > 0 && !status_ && !attached_) {
    signal_group(SIGKILL);
    wait();
  }
  pid_ = -1;
  close_fd(output_fd_);
}

/// Reaps a child that is known to have ended. Its group is killed first: as long as the leader is a zombie, the
/// group's number cannot belong to anybody else.
ExitStatus Subprocess::reap() noexcept {
  if (!attached_) ::kill(-pid_, SIGKILL);
  int raw = 0;
  rusage usage{};
  while (::wait4(pid_, &raw, 0, &usage) < 0 && errno == EINTR) {
  }
  status_ = to_exit_status(raw, usage);
  return *status_;
}

bool Subprocess::has_ended(bool block) const noexcept {
  siginfo_t info{};
  const int flags = WEXITED | WNOWAIT | (block ? 0 : WNOHANG);
  int result = 0;
  do {
    info.si_pid = 0;
    result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, flags);
  } while (result != 0 && errno == EINTR);
  return result != 0 || info.si_pid == pid_;
}

std::optional<ExitStatus> Subprocess::poll() {
  if (status_ || pid_ <= 0) return status_;
  if (!has_ended(false)) return std::nullopt;
  return reap();
}

ExitStatus Subprocess::wait() {
  if (status_) return *status_;
  if (pid_ <= 0) return {};
  has_ended(true);
  return reap();
}

std::optional<ExitStatus> Subprocess::wait_for(std::chrono::nanoseconds limit) {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + limit;
  // The wrapper's header lacks extern "C" in glibc 2.36.
  int handle = pid_ > 0 && !status_ ? static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)) : -1;
  for (;;) {
    if (auto status = poll()) {
      close_fd(handle);
      return status;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
    if (left <= 0 || pid_ <= 0) {
      close_fd(handle);
      return std::nullopt;
    }
    // Without a process descriptor (kernels before 5.3) look again every few milliseconds.
    pollfd event{handle, POLLIN, 0};
    const auto longest = handle >= 0 ? std::int64_t{1000} : std::int64_t{5};
    ::poll(&event, handle >= 0 ? 1 : 0, static_cast<int>(std::min<std::int64_t>(left, longest)));
  }
}

void Subprocess::signal_group(int signal) noexcept {
  if (pid_ > 0 && !status_) ::kill(attached_ ? pid_ : -pid_, signal);
}

}  // namespace ridgeline::base
