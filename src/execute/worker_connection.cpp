// SPDX-License-Identifier: Apache-2.0
#include "execute/worker_connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/version.hpp"
#include "execute/message.hpp"
#include "execute/messages.hpp"
#include "execute/process_tree.hpp"
#include "host/cgroup_limits.hpp"
#include "host/process_cpu.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using std::chrono::steady_clock;

constexpr auto kTick = std::chrono::milliseconds(50);  ///< how often cancellation and signs of life are looked at
constexpr auto kLastWords = std::chrono::milliseconds(1000);  ///< for a worker that has hung up to end by itself
constexpr const char* kWorkerLifeVariable = "RIDGELINE_WORKER_LIFE";
constexpr auto kFarewell = std::chrono::milliseconds(500);  ///< for an idle worker to end after its input closed
constexpr auto kStill = std::chrono::seconds(1);            ///< nothing moves: not an ordinary request about to answer
constexpr auto kStop = std::chrono::seconds(1);             ///< for a process to stand still
constexpr auto kStopTick = std::chrono::microseconds(20);
constexpr auto kLastThread = std::chrono::microseconds(100);  ///< to leave its core, once all are said to be stopped
constexpr double kBusyShare = 0.05;  ///< of a core: more than the heartbeat itself could ever use

steady_clock::duration seconds(double value) {
  return std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(std::clamp(value, 0.0, 1e8)));
}

std::string command_text(const std::vector<std::string>& command) {
  std::string text;
  for (const auto& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

base::Result<std::unique_ptr<WorkerConnection>> WorkerConnection::launch(const WorkerOptions& options) {
  RL_TRY_ASSIGN(auto status, SharedStatus::create());
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return base::fail(ErrorCode::io, "cannot start a worker: no socket: {}", std::strerror(errno));
  base::SubprocessOptions child;
  child.argv = options.command;
  child.environment = options.environment;
  const auto life = mark_of_a_life();
  child.environment.emplace_back(kWorkerLifeVariable, life);
  child.file_descriptors = {{sockets[1], kRequestFd}, {sockets[1], kReplyFd}, {status.fd(), kStatusFd}};
  child.address_space_bytes = options.address_space_bytes;
  auto process = base::Subprocess::spawn(child);
  ::close(sockets[1]);
  if (!process) {
    ::close(sockets[0]);
    return tl::unexpected<base::Error>(std::move(process).error());
  }
  ::fcntl(sockets[0], F_SETFL, O_NONBLOCK);
  std::unique_ptr<WorkerConnection> connection(
      new WorkerConnection(options, std::move(*process), std::move(status), sockets[0]));
  connection->mark_ = fmt::format("{}={}", kWorkerLifeVariable, life);
  RL_TRY(connection->greet());
  return connection;
}

WorkerConnection::WorkerConnection(const WorkerOptions& options, base::Subprocess process, SharedStatus status,
                                   int socket)
    : options_(options), process_(std::move(process)), status_(std::move(status)), socket_(socket) {
  status_->control.phase.store(schema::TrialPhase::launch);
}

WorkerConnection::~WorkerConnection() {
  ::close(socket_);
  resume();
  // An idle worker ends at end of file and runs its exit handlers; a busy or stuck one is killed with its group.
  if (!process_.poll() && status_->control.phase.load() == schema::TrialPhase::launch)
    (void)process_.wait_for(kFarewell);
}

base::Result<void> WorkerConnection::greet() {
  const auto command = command_text(options_.command);
  RL_TRY_ASSIGN(auto reply, wait_for_reply({}, options_.launch_timeout_s, {}));
  if (const auto* death = std::get_if<WorkerDeath>(&reply)) {
    const auto line = tail_.last_line();
    const auto why = schema::text_of(death->message, messages::table());
    const auto printed = line.empty() ? std::string() : fmt::format("; it printed: {}", line);
    if (death->cause == DeathCause::ended)
      return base::fail(ErrorCode::crashed, "worker \"{}\" ended before it was ready: {}{}", command, why, printed);
    return base::fail(death->cause == DeathCause::protocol ? ErrorCode::corrupt : ErrorCode::timeout,
                      "worker \"{}\" was not ready within {:g} s: {}{}", command, options_.launch_timeout_s, why,
                      printed);
  }
  const auto& frame = std::get<WireFrame>(reply);
  if (frame.type == FrameType::error) return tl::unexpected<base::Error>(read_error_frame(frame).in(command));
  const auto hello = read_frame<Hello>(frame, "worker's greeting");
  if (frame.type != FrameType::hello || !hello)
    return base::fail(ErrorCode::corrupt, "worker \"{}\" did not greet: is it a ridgeline worker", command);
  if (hello->protocol != kProtocolVersion || hello->version != base::version() ||
      hello->status_bytes != sizeof(WorkerStatus))
    return base::fail(ErrorCode::unsupported,
                      "worker \"{}\" is version {} (protocol {}), expected {} (protocol {}): the program was replaced "
                      "while it ran",
                      command, hello->version, hello->protocol, base::version(), kProtocolVersion)
        .hint("start it again");
  return {};
}

void WorkerConnection::pause() {
  if (paused_ || !alive()) return;
  signal(SIGSTOP);
  const auto end = steady_clock::now() + kStop;
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid()), &info, WSTOPPED | WEXITED | WNOWAIT | WNOHANG) == 0 &&
         info.si_pid == 0 && steady_clock::now() < end)
    std::this_thread::sleep_for(kStopTick);
  std::this_thread::sleep_for(kLastThread);
  paused_ = true;
  before_pause_ = clocks();
}

void WorkerConnection::resume() {
  if (!paused_) return;
  pauses_ = pauses();
  paused_ = false;
  signal(SIGCONT);
}

void WorkerConnection::signal(int number) noexcept {
  process_.signal_group(number);
  if (outside_ > 0) ::kill(::getpgid(outside_) == outside_ ? -outside_ : outside_, number);
}

std::optional<double> WorkerConnection::cpu_s() const {
  const auto own = host::process_cpu_s(pid());
  if (!own || outside_ <= 0) return own;
  const auto outside = host::process_cpu_s(outside_);
  return outside ? std::optional(*own + *outside) : std::nullopt;
}

WorkerConnection::Pauses WorkerConnection::clocks() const {
  return {base::to_seconds(base::system_clock().now()), cpu_s().value_or(before_pause_.cpu_s)};
}

WorkerConnection::Pauses WorkerConnection::pauses() const {
  if (!paused_) return pauses_;
  const auto now = clocks();
  return {pauses_.wall_s + now.wall_s - before_pause_.wall_s, pauses_.cpu_s + now.cpu_s - before_pause_.cpu_s};
}

bool WorkerConnection::alive() { return !process_.poll().has_value(); }

std::string WorkerConnection::output_tail() {
  if (output_open_) output_open_ = tail_.drain(process_.output_fd());
  return tail_.text();
}

base::Result<WorkerConnection::Reply> WorkerConnection::exchange(const WireFrame& request, double deadline_s,
                                                                 const TimeLeft& time_left) {
  resume();
  if (output_open_) output_open_ = tail_.drain(process_.output_fd());
  tail_.clear();
  status_->control.steps.store(0);
  status_->control.cancel.store(false);
  status_->control.phase.store(schema::TrialPhase::launch);
  // Of one that was killed while it was paused, the count before the pause says why.
  if (alive() || !oom_kills_before_) oom_kills_before_ = host::oom_kills();
  auto reply = wait_for_reply(encode_frame(request), deadline_s, time_left);
  if (reply && std::holds_alternative<WireFrame>(*reply)) status_->control.phase.store(schema::TrialPhase::launch);
  return reply;
}

base::Result<WorkerConnection::Reply> WorkerConnection::wait_for_reply(std::string bytes, double deadline_s,
                                                                       const TimeLeft& time_left) {
  Watch watch;
  watch.begun = watch.last_beat = watch.last_progress = watch.last_sign = watch.last_report = steady_clock::now();
  watch.deadline = watch.begun + seconds(deadline_s);
  watch.run_begun = options_.clock->now();
  bool connected = true;
  for (;;) {
    auto frame = reader_.next();
    if (!frame) return Reply(killed(DeathCause::protocol, messages::not_understood(frame.error().message)));
    if (*frame) return Reply(std::move(**frame));
    if (!connected) return Reply(ended());
    if (options_.cancelled && options_.cancelled()) {
      (void)killed(DeathCause::ended, {});
      return base::fail(ErrorCode::cancelled, "cancelled");
    }
    const auto now = steady_clock::now();
    look(watch, now);
    if (auto reason = out_of_time(watch, now, time_left)) {
      (void)killed(DeathCause::ended, {});
      return tl::unexpected<base::Error>({ErrorCode::out_of_time, std::move(*reason)});
    }
    if (auto death = overdue(watch, now)) return Reply(std::move(*death));
    report(watch, now);

    const auto events = static_cast<short>(POLLIN | (bytes.empty() ? 0 : POLLOUT));
    std::array<pollfd, 2> waiting{pollfd{socket_, events, 0},
                                  pollfd{output_open_ ? process_.output_fd() : -1, POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(watch.deadline - now);
    ::poll(waiting.data(), waiting.size(),
           static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, std::chrono::milliseconds(kTick).count())));
    if (waiting[1].revents != 0) output_open_ = tail_.drain(process_.output_fd());
    if (waiting[0].revents != 0) connected = transfer(bytes, waiting[0].revents);
    // A grandchild may hold the socket open after the worker's death, so the end of file alone is not to be relied on.
    if (connected && !alive()) {
      receive();
      connected = false;
    }
  }
}

bool WorkerConnection::transfer(std::string& bytes, short events) {
  if ((events & POLLOUT) != 0 && !bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) bytes.erase(0, static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
      receive();
      return false;
    }
  }
  if ((events & (POLLIN | POLLHUP | POLLERR)) == 0) return true;
  return receive();
}

bool WorkerConnection::receive() {
  std::array<char, 65536> chunk;
  for (;;) {
    const auto got = ::recv(socket_, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got > 0) {
      reader_.append({chunk.data(), static_cast<std::size_t>(got)});
    } else if (got == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
}

void WorkerConnection::look(Watch& watch, Time now) const {
  const auto beats = status_->beats.load(std::memory_order_relaxed);
  const auto steps = status_->control.steps.load(std::memory_order_relaxed);
  const auto phase = status_->control.phase.load(std::memory_order_relaxed);
  const auto cpu_ns = status_->cpu_ns.load(std::memory_order_relaxed);
  if (beats != watch.beats) {
    watch.beats = beats;
    watch.last_beat = now;
  }
  const auto busy_since = [&](Time then, std::int64_t cpu_then) {
    const auto wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - then).count();
    const auto used_ns = cpu_ns - cpu_then;
    return used_ns > 1'000'000 && static_cast<double>(used_ns) > kBusyShare * static_cast<double>(wall_ns);
  };
  const bool moved = steps != watch.steps || phase != watch.phase;
  if (moved || (works_without_steps(phase) && busy_since(watch.last_progress, watch.cpu_ns))) {
    watch.steps = steps;
    watch.phase = phase;
    watch.cpu_ns = cpu_ns;
    watch.last_progress = now;
  }
  if (moved || busy_since(watch.last_sign, watch.sign_cpu_ns)) {
    watch.sign_cpu_ns = cpu_ns;
    watch.last_sign = now;
  }
}

std::optional<std::string> WorkerConnection::out_of_time(const Watch& watch, Time now,
                                                         const TimeLeft& time_left) const {
  const auto still = now - watch.last_sign;
  // A simulated clock stands still in a worker that hangs.
  const auto taken = std::max<base::Nanoseconds>(now - watch.begun, options_.clock->now() - watch.run_begun);
  if (taken < seconds(time_left.seconds)) return std::nullopt;
  if (still < kStill && taken < seconds(time_left.seconds + time_left.grace_s)) return std::nullopt;
  return fmt::format(
      "ended after {:.1f} s in phase {}{}", base::to_seconds(taken), base::enum_name(watch.phase),
      still < kStill ? "" : fmt::format(", in which nothing had moved for {:.1f} s", base::to_seconds(still)));
}

std::optional<WorkerDeath> WorkerConnection::overdue(const Watch& watch, Time now) {
  const auto in_phase = std::string(base::enum_name(watch.phase));
  if (now >= watch.deadline)
    return killed(DeathCause::deadline,
                  messages::no_result({.limit_s = base::to_seconds(watch.deadline - watch.begun), .phase = in_phase}));
  if (watch.beats > 0 && now - watch.last_beat > seconds(options_.heartbeat_timeout_s))
    return killed(DeathCause::no_heartbeat,
                  messages::no_heartbeat({.limit_s = options_.heartbeat_timeout_s, .phase = in_phase}));
  if (now - watch.last_progress > seconds(options_.stall_timeout_s))
    return killed(
        DeathCause::stalled,
        messages::no_progress({.limit_s = options_.stall_timeout_s, .phase = in_phase, .inferences = watch.steps}));
  return std::nullopt;
}

void WorkerConnection::report(Watch& watch, Time now) const {
  if (!options_.on_progress || now - watch.last_report < kTick) return;
  watch.last_report = now;
  JobProgress progress;
  progress.phase = status_->control.phase.load(std::memory_order_relaxed);
  progress.steps = status_->control.steps.load(std::memory_order_relaxed);
  progress.elapsed_s = base::to_seconds(now - watch.begun);
  options_.on_progress(progress);
}

WorkerDeath WorkerConnection::killed(DeathCause cause, schema::Message message) {
  WorkerDeath death;
  death.cause = cause;
  death.phase = status_->control.phase.load();
  // A user's code that it runs in a process of its own may have started others, in sessions of their own.
  (void)end_detached(alive() ? std::optional(pid()) : std::nullopt, mark_);
  process_.signal_group(SIGKILL);
  death.exit = process_.wait();
  death.message = std::move(message);
  death.stderr_tail = output_tail();
  return death;
}

WorkerDeath WorkerConnection::ended() {
  auto exit = process_.wait_for(kLastWords);
  if (!exit) return killed(DeathCause::protocol, messages::connection_closed());
  WorkerDeath death;
  death.phase = status_->control.phase.load();
  death.exit = *exit;
  death.stderr_tail = output_tail();
  const auto phase = std::string(base::enum_name(death.phase));
  const auto kills = host::oom_kills();
  death.oom_killed = exit->signal == SIGKILL && oom_kills_before_ && kills && *kills > *oom_kills_before_;
  if (death.oom_killed)
    death.message = messages::worker_out_of_memory();
  else if (exit->signal)
    death.message = messages::worker_died(
        {.signal = signal_name(*exit->signal), .name = ::strsignal(*exit->signal), .phase = phase});
  else
    death.message = messages::worker_exited({.code = exit->exit_code.value_or(0), .phase = phase});
  return death;
}

}  // namespace ridgeline::execute
