// SPDX-License-Identifier: Apache-2.0
#include "execute/command_runner.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/clock.hpp"
#include "base/subprocess.hpp"
#include "execute/output_log.hpp"
#include "execute/process_tree.hpp"
#include "host/cgroup_limits.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;

constexpr double kLookEveryS = 0.25;
constexpr double kFirstLookS = 0.03;
constexpr double kLookShare = 0.02;  ///< of one core, at most, goes into looking
constexpr int kCommandPollMs = 50;
/// Of a supervisor that was asked to stop: its own grace and kill limits, and some for a busy machine.
constexpr double kStopLimitS = 4.5;
constexpr double kDrainLimitS = 0.5;

class Runner {
 public:
  Runner(const CommandRequest& request, const CommandRunnerOptions& options, GpuTally& gpus)
      : request_(request), options_(options), gpus_(gpus) {}
  ~Runner() {
    if (socket_ >= 0) ::close(socket_);
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  base::Result<CommandResult> run() {
    // Should the supervisor itself be killed, what it leaves comes to us instead of to init.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    RL_TRY(log_.open(request_.log));
    const auto kills_before = host::oom_kills();
    gpus_.begin();
    RL_TRY(start());
    auto line = attend();
    finish_output();
    RL_TRY(log_.close());
    result_.output_bytes = log_.bytes();
    result_.output_left_out = log_.left_out();
    const auto kills = host::oom_kills();
    result_.kernel_oom_kill = kills && kills_before && *kills > *kills_before;
    if (!line) return tl::unexpected<base::Error>(std::move(line).error());
    RL_TRY_ASSIGN(const auto json, base::parse_json(*line, "the supervisor's report"));
    RL_TRY_ASSIGN(result_.report, base::json_as<SupervisorReport>(json, "the supervisor's report"));
    result_.peak_rss_bytes = std::max(result_.peak_rss_bytes, result_.report.peak_rss_bytes);
    return std::move(result_);
  }

 private:
  base::Result<void> start() {
    for (const auto pid : read_tree(::getpid()).processes) strangers_.insert(pid);
    std::array<int, 2> sockets{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
      return base::fail(ErrorCode::io, "cannot make a socket for a command: {}", std::strerror(errno));
    base::SubprocessOptions child;
    child.argv = options_.supervisor;
    child.argv.insert(child.argv.end(), request_.argv.begin(), request_.argv.end());
    child.environment = request_.environment;
    child.file_descriptors = {{sockets[1], kSupervisorSocket}};
    begun_ = base::system_clock().now();
    auto process = base::Subprocess::spawn(child);
    ::close(sockets[1]);
    socket_ = sockets[0];
    if (!process) return tl::unexpected<base::Error>(std::move(process).error());
    process_.emplace(std::move(*process));
    return {};
  }

  /// Until the supervisor has reported: its line.
  base::Result<std::string> attend() {
    std::string line;
    while (true) {
      std::array<pollfd, 2> events{pollfd{socket_, POLLIN, 0},
                                   pollfd{output_open_ ? process_->output_fd() : -1, POLLIN, 0}};
      ::poll(events.data(), events.size(), kCommandPollMs);
      if (events[1].revents != 0) output_open_ = log_.drain(process_->output_fd());
      if (events[0].revents != 0) {
        std::array<char, 4096> piece;
        const auto got = ::recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
        if (got > 0) line.append(piece.data(), static_cast<std::size_t>(got));
        if (const auto end = line.find('\n'); end != std::string::npos) return line.substr(0, end);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return lost();
      }
      if (stopping_since_ && seconds_since(*stopping_since_) > kStopLimitS) return lost();
      if (!stopping_since_) check_limits();
      look();
    }
  }

  void check_limits() {
    result_.cancelled = options_.cancelled && options_.cancelled();
    result_.timed_out = !result_.cancelled && request_.limit_s > 0 && seconds_since(begun_) >= request_.limit_s;
    if (!result_.cancelled && !result_.timed_out) return;
    stopping_since_ = base::system_clock().now();
    (void)!::send(socket_, "x", 1, MSG_NOSIGNAL);
  }

  void look() {
    const double now = seconds_since(begun_);
    if (now < next_look_s_) return;
    const auto before = base::system_clock().now();
    // The supervisor's own child and everything below.
    const auto tree = read_tree(process_->pid());
    result_.peak_rss_bytes = std::max(result_.peak_rss_bytes, tree.rss_bytes);
    result_.most_processes = std::max(result_.most_processes, tree.processes.size());
    if (!gpus_.empty()) gpus_.look();
    next_look_s_ = now + std::max(kLookEveryS, seconds_since(before) / kLookShare);
    if (options_.on_progress)
      options_.on_progress(
          {schema::TrialPhase::measure, 0, now, tree.rss_bytes, tree.processes.size(), gpus_.busy_now()});
  }

  /// The supervisor is gone or stuck. What it looked after is ours now.
  base::Result<std::string> lost() {
    process_->signal_group(SIGKILL);
    const auto status = process_->wait();
    std::set<pid_t> killed;
    (void)kill_until_none(
        [&] {
          auto ours = read_tree(::getpid()).processes;
          std::erase_if(ours, [&](pid_t pid) { return strangers_.count(pid) != 0; });
          killed.insert(ours.begin(), ours.end());
          return ours;
        },
        kDrainLimitS);
    for (const auto pid : killed) ::waitpid(pid, nullptr, WNOHANG);
    return base::fail(ErrorCode::crashed, "the supervisor of {} ended unexpectedly ({}); its processes were ended",
                      request_.argv.front(),
                      status.signal ? fmt::format("signal {}", *status.signal)
                                    : fmt::format("exit code {}", status.exit_code.value_or(0)));
  }

  void finish_output() {
    const auto since = base::system_clock().now();
    while (output_open_ && seconds_since(since) < kDrainLimitS) {
      pollfd event{process_->output_fd(), POLLIN, 0};
      if (::poll(&event, 1, kCommandPollMs) > 0) output_open_ = log_.drain(process_->output_fd());
    }
    (void)process_->wait_for(base::from_seconds(kDrainLimitS));
  }

  [[nodiscard]] static double seconds_since(base::Nanoseconds then) {
    return base::to_seconds(base::system_clock().now() - then);
  }

  const CommandRequest& request_;
  const CommandRunnerOptions& options_;
  GpuTally& gpus_;
  CommandResult result_;
  OutputLog log_;
  std::optional<base::Subprocess> process_;
  std::set<pid_t> strangers_;  ///< our processes that have nothing to do with this command
  int socket_ = -1;
  bool output_open_ = true;
  base::Nanoseconds begun_{0};
  double next_look_s_ = kFirstLookS;
  std::optional<base::Nanoseconds> stopping_since_;
};

}  // namespace

base::Result<CommandResult> run_command(const CommandRequest& request, const CommandRunnerOptions& options,
                                        GpuTally& gpus) {
  return Runner(request, options, gpus).run();
}

}  // namespace ridgeline::execute
