// SPDX-License-Identifier: Apache-2.0
#include "execute/idle_recorder.hpp"

#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <thread>

#include "base/cancel.hpp"
#include "host/processes.hpp"
#include "host/recorder_socket.hpp"

namespace ridgeline::execute {
namespace {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::fail;
using base::Result;
using Clock = std::chrono::steady_clock;

constexpr auto kTick = 200ms;
constexpr auto kSecond = 1s;
constexpr auto kAnswerLimit = 30s;  // Python's hooks are installed first, which a long call of the program can put off
constexpr auto kEndLimit = 30s;     // what was recorded is written
constexpr auto kProcessEndLimit = 1s;
constexpr std::string_view kHowToStart =
    "start it with ridgeline profile --idle -- COMMAND, or in the environment that ridgeline profile --environment "
    "prints";

std::string user_name(uid_t uid) {
  const auto* user = ::getpwuid(uid);
  return user != nullptr ? user->pw_name : std::to_string(uid);
}

/// One line that a recorder sends, or what came instead.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  /// "": nothing came within the time, or the connection has ended.
  std::string line(std::chrono::milliseconds limit) {
    for (const auto end = Clock::now() + limit;;) {
      if (const auto at = text_.find('\n'); at != std::string::npos) {
        auto out = text_.substr(0, at);
        text_.erase(0, at + 1);
        return out;
      }
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (has_ended_ || left.count() <= 0) return {};
      read(static_cast<int>(left.count()));
    }
  }
  /// False: the other side is gone.
  bool send(std::string_view text) {
    return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_ && text_.find('\n') == std::string::npos; }

 private:
  void read(int limit_ms) {
    pollfd one{socket_, POLLIN, 0};
    if (::poll(&one, 1, limit_ms) <= 0) return;
    std::array<char, 1'024> part{};
    const auto size = ::recv(socket_, part.data(), part.size(), 0);
    if (size > 0)
      text_.append(part.data(), static_cast<std::size_t>(size));
    else if (size == 0 || errno != EINTR)
      has_ended_ = true;
  }

  const int socket_;
  std::string text_;
  bool has_ended_ = false;
};

bool has_ended(std::int64_t pid) {
  const auto stat = host::Processes().stat(static_cast<pid_t>(pid));
  return !stat || stat->ended();
}

/// It closes its files shortly before it is gone.
bool ends_soon(std::int64_t pid) {
  for (const auto end = Clock::now() + kProcessEndLimit; Clock::now() < end; std::this_thread::sleep_for(20ms))
    if (has_ended(pid)) return true;
  return has_ended(pid);
}

/// A process that one started, directly or not, and whose recorder waits; 0: there is none.
pid_t waiting_below(pid_t ancestor, const std::string& folder, const host::Processes& processes) {
  for (const auto pid : host::recorder_processes(folder)) {
    auto stat = processes.stat(static_cast<pid_t>(pid));
    if (!stat || stat->ended()) continue;
    while (stat && stat->parent > 1) {
      if (stat->parent == ancestor) return static_cast<pid_t>(pid);
      stat = processes.stat(stat->parent);
    }
  }
  return 0;
}

base::Fault refused(std::int64_t pid, const host::WakeRequest& request, std::string_view answer) {
  if (answer.starts_with(host::kWakeRefusedBusy))
    return fail(ErrorCode::unavailable, "process {} is being recorded already, by process {}", pid,
                answer.substr(host::kWakeRefusedBusy.size()))
        .hint("wait until that recording ends, or end it with Ctrl-C there");
  if (answer.starts_with(host::kWakeRefusedFolder))
    return fail(ErrorCode::io, "process {} cannot write to {}: {}", pid, request.folder,
                answer.substr(host::kWakeRefusedFolder.size()))
        .hint("set TMPDIR to a folder with space that both can write to");
  return fail(ErrorCode::unavailable, "the recorder of process {} does not understand the request", pid)
      .hint("the process was started by another version of Ridgeline; start it again");
}

}  // namespace

Result<IdleRecorder> IdleRecorder::find(std::int64_t pid) {
  const host::Processes processes;
  const auto number = static_cast<pid_t>(pid);
  if (pid <= 0 || number != pid || has_ended(pid))
    return fail(ErrorCode::not_found, "process {}: no such process", pid)
        .hint("pgrep -af NAME lists process numbers; in a container, run ridgeline there");
  const auto owner = processes.owner(number);
  if (owner && *owner != ::geteuid())
    return fail(ErrorCode::unavailable, "process {} belongs to user {}, whose recordings only that user can start", pid,
                user_name(*owner))
        .hint("sudo -u {} ridgeline profile --pid {}", user_name(*owner), pid);
  IdleRecorder out;
  out.pid_ = pid;
  out.command_ = processes.arguments(number);
  out.directory_ = processes.working_folder(number);
  std::error_code ignored;
  const auto named = processes.variable(number, host::kIdleVariable);
  const auto folder = named.empty() ? host::recorder_folder() : named;
  out.socket_ = host::recorder_socket(folder, pid);
  if (!std::filesystem::exists(out.socket_, ignored)) {
    const auto name = processes.name(number);
    if (named.empty())
      return fail(ErrorCode::not_found, "process {} ({}) has no recorder", pid, name).hint("{}", kHowToStart);
    const auto stat = processes.stat(number);
    if (stat && std::filesystem::exists(host::recorder_socket(folder, stat->parent), ignored))
      return fail(ErrorCode::not_found, "process {} ({}) has not started CUDA; its parent {} has a recorder", pid, name,
                  stat->parent)
          .hint("ridgeline profile --pid {}", stat->parent);
    if (const auto below = waiting_below(number, folder, processes); below != 0)
      return fail(ErrorCode::not_found, "process {} ({}) does not use the GPU; process {} ({}), which it started, does",
                  pid, name, below, processes.name(below))
          .hint("ridgeline profile --pid {}", below);
    return fail(ErrorCode::not_found,
                "the recorder of process {} ({}) does not wait yet: the process has neither started CUDA nor imported "
                "PyTorch or ONNX Runtime",
                pid, name)
        .hint("try again once it uses the GPU");
  }
  if (const auto why = host::check_recorder_folder(folder); !why.empty())
    return fail(ErrorCode::unavailable, "the folder of recorder sockets {} cannot be used: {}", folder, why)
        .hint("remove it, and start the program again");
  return out;
}

Result<WokenEnd> IdleRecorder::record(const std::string& folder, const std::string& options,
                                      const std::function<void()>& every_second) const {
  const host::WakeRequest request{folder, options};
  const int socket = host::connect_recorder(socket_);
  if (socket < 0)
    return fail(ErrorCode::unavailable, "the recorder of process {} is gone: {}: {}", pid_, socket_,
                std::strerror(errno))
        .hint("start the program again");
  Connection connection(socket);
  connection.send(request.text());
  std::string answer;
  for (const auto end = Clock::now() + kAnswerLimit;
       answer.empty() && !connection.has_ended() && !base::cancel_requested() && Clock::now() < end;)
    answer = connection.line(kTick);
  if (base::cancel_requested()) return fail(ErrorCode::cancelled, "stopped before process {} was recorded", pid_);
  if (answer.empty() && connection.has_ended() && ends_soon(pid_))
    return fail(ErrorCode::unavailable, "process {} ended before it could be recorded", pid_);
  if (answer.empty())
    return fail(ErrorCode::unavailable, "the recorder of process {} does not answer", pid_)
        .hint("a call of Python that never releases its lock puts it off; try again");
  if (answer != host::kWakeRecording) return refused(pid_, request, answer);
  WokenEnd out;
  auto asked = Clock::now();
  std::optional<Clock::time_point> stopped;
  while (answer != host::kWakeEnded && !connection.has_ended()) {
    if (base::cancel_requested() && !stopped) {
      out.is_interrupted = true;
      stopped = Clock::now();
      connection.send(host::kWakeStop);
    }
    if (stopped && Clock::now() - *stopped > kEndLimit) break;
    answer = connection.line(kTick);
    if (every_second && Clock::now() - asked >= kSecond) {
      asked = Clock::now();
      every_second();
    }
  }
  if (answer == host::kWakeEnded) return out;
  out.process_ended = connection.has_ended() && ends_soon(pid_);
  out.is_lost = !out.process_ended;
  return out;
}

std::string idle_variable() { return host::kIdleVariable; }

Result<std::string> make_idle_folder() {
  auto folder = host::recorder_folder();
  if (const auto why = host::make_recorder_folder(folder); !why.empty())
    return fail(ErrorCode::unavailable, "the folder of recorder sockets {} cannot be used: {}", folder, why)
        .hint("remove it, or set XDG_RUNTIME_DIR to a folder of yours");
  return folder;
}

std::vector<std::int64_t> idle_recorders() {
  const auto folder = host::recorder_folder();
  if (!host::check_recorder_folder(folder).empty()) return {};
  auto out = host::recorder_processes(folder);
  std::erase_if(out, [](auto pid) { return has_ended(pid); });
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace ridgeline::execute
