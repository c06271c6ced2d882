// SPDX-License-Identifier: Apache-2.0
#include "execute/stream_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/subprocess.hpp"
#include "execute/classify.hpp"
#include "execute/frame_line.hpp"
#include "execute/message.hpp"
#include "execute/output_tail.hpp"
#include "execute/shared_memory.hpp"
#include "execute/stream_protocol.hpp"
#include "host/cgroup_limits.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;

constexpr int kTickMs = 50;
constexpr auto kLastLine = std::chrono::seconds(2);  ///< for a process that has said its last line to end
/// For what is in the pipeline to end once the run is stopped; an inference that hangs does not.
constexpr auto kStopGrace = std::chrono::seconds(10);

class StreamChild {
 public:
  StreamChild(const StreamChildOptions& options, SharedMemory<StreamCounts> counts)
      : options_(options), counts_(std::move(counts)) {}
  ~StreamChild() {
    if (socket_ >= 0) ::close(socket_);
  }
  StreamChild(const StreamChild&) = delete;
  StreamChild& operator=(const StreamChild&) = delete;

  [[nodiscard]] base::Result<void> start(const schema::StreamSpec& spec);
  [[nodiscard]] StreamOutcome run();

 private:
  /// False once there is nothing more to come.
  bool receive();
  void take(std::string_view line);
  void take_frame(std::string_view line);
  void check_stop();
  void check_stall();
  void died();
  void tell_lost();
  void fail(base::Error error) {
    if (!out_.error) out_.error = std::move(error);
  }

  const StreamChildOptions& options_;
  SharedMemory<StreamCounts> counts_;
  std::optional<base::Subprocess> process_;
  int socket_ = -1;
  std::string buffer_;
  OutputTail tail_;
  StreamOutcome out_;
  std::array<std::uint64_t, kMostSources> told_{};
  std::map<std::string, std::int64_t> dropped_;  ///< lines by reason
  bool over_ = false;                            ///< its last line has come
  bool is_writing_ = true;                       ///< until the output fails
  std::optional<std::chrono::steady_clock::time_point> stopped_at_;
  std::uint64_t lines_seen_ = 0;
  std::chrono::steady_clock::time_point moved_at_ = std::chrono::steady_clock::now();  ///< when the last line came
  std::optional<std::int64_t> oom_kills_before_;
};

base::Result<void> StreamChild::start(const schema::StreamSpec& spec) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return base::fail(ErrorCode::io, "cannot start a pipeline: no socket: {}", std::strerror(errno));
  base::SubprocessOptions child;
  child.argv = options_.command;
  child.environment = options_.environment;
  child.file_descriptors = {{sockets[1], kStreamFd}, {counts_.fd(), kStreamCountsFd}};
  if (options_.input_fd >= 0 && ::fcntl(options_.input_fd, F_GETFD) >= 0)
    child.file_descriptors.emplace_back(options_.input_fd, kStreamInputFd);
  oom_kills_before_ = host::oom_kills();
  auto process = base::Subprocess::spawn(child);
  ::close(sockets[1]);
  socket_ = sockets[0];
  if (!process) return tl::unexpected(std::move(process).error());
  process_ = std::move(*process);
  const auto request = base::dump_json(base::Json(spec)) + "\n";
  for (std::size_t done = 0; done < request.size();) {
    const auto sent = ::send(socket_, request.data() + done, request.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) break;  // it has died, which is told where lines are read
    done += static_cast<std::size_t>(sent);
  }
  ::fcntl(socket_, F_SETFL, O_NONBLOCK);
  return {};
}

StreamOutcome StreamChild::run() {
  int output = process_->output_fd();
  for (;;) {
    std::array<pollfd, 2> ready{{{socket_, POLLIN, 0}, {output, POLLIN, 0}}};
    ::poll(ready.data(), ready.size(), kTickMs);
    // One that has ended would wake every poll; its lines may still come.
    if (ready[1].revents != 0 && !tail_.drain(output)) output = -1;
    if (!receive()) break;
    check_stop();
    check_stall();
  }
  if (over_) {
    if (!process_->wait_for(kLastLine)) process_->signal_group(SIGKILL);
  } else {
    died();
  }
  tell_lost();
  return std::move(out_);
}

bool StreamChild::receive() {
  std::array<char, 65536> chunk;
  for (;;) {
    const auto got = ::recv(socket_, chunk.data(), chunk.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (got <= 0) return false;
    buffer_.append(chunk.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end; (end = buffer_.find('\n', begin)) != std::string::npos; begin = end + 1)
      take(std::string_view(buffer_).substr(begin, end - begin));
    buffer_.erase(0, begin);
    if (out_.error && !is_writing_) return false;
    check_stop();
  }
}

void StreamChild::take(std::string_view line) {
  if (line.empty()) return;
  const char kind = line.front();
  line.remove_prefix(1);
  if (kind == stream_line::kFrame) return take_frame(line);
  if (kind == stream_line::kError) {
    over_ = true;
    return fail(read_error_frame({FrameType::error, std::string(line), {}}));
  }
  if (kind == stream_line::kLoaded) {
    if (options_.on_loaded) options_.on_loaded(std::string(line));
    return;
  }
  const auto json = base::parse_json(line, "pipeline's line");
  if (!json) return fail(json.error());
  if (kind == stream_line::kReady) {
    auto ready = base::json_as<schema::StreamReady>(*json, "pipeline's line");
    if (!ready) return fail(ready.error());
    out_.ready = std::move(*ready);
    if (options_.on_ready) options_.on_ready(out_.ready);
    return;
  }
  if (kind == stream_line::kNote) {
    auto note = base::json_as<schema::Message>(*json, "pipeline's line");
    if (!note) return fail(note.error());
    out_.notes.push_back(std::move(*note));
    if (options_.on_note) options_.on_note(out_.notes.back());
    return;
  }
  auto status = base::json_as<schema::StreamStatus>(*json, "pipeline's line");
  if (!status) return fail(status.error());
  out_.status = std::move(*status);
  over_ = over_ || kind == stream_line::kDone;
  if (!over_ && options_.on_status) options_.on_status(out_.status);
}

void StreamChild::take_frame(std::string_view line) {
  ++out_.lines;
  ++told_[source_of_line(line) % kMostSources];
  if (const auto reason = drop_reason_of_line(line); !reason.empty()) ++dropped_[std::string(reason)];
  if (!is_writing_ || !options_.on_frame) return;
  if (auto written = options_.on_frame(std::string(line)); !written) {
    is_writing_ = false;
    fail(written.error());
  }
}

void StreamChild::check_stop() {
  if (!stopped_at_ && options_.stopping && options_.stopping()) {
    stopped_at_ = std::chrono::steady_clock::now();
    (void)::send(socket_, kStopWord, std::strlen(kStopWord), MSG_NOSIGNAL);
  }
  if (stopped_at_ && !out_.error && std::chrono::steady_clock::now() - *stopped_at_ > kStopGrace) {
    fail({ErrorCode::timeout, fmt::format("the pipeline did not end within {} s after it was stopped",
                                          std::chrono::seconds(kStopGrace).count())});
    process_->signal_group(SIGKILL);
  }
}

void StreamChild::check_stall() {
  const auto now = std::chrono::steady_clock::now();
  // While it warms up nothing is known of how long an inference takes.
  if (out_.lines != lines_seen_ || out_.status.in_flight == 0 || out_.ready.workers == 0) {
    lines_seen_ = out_.lines;
    moved_at_ = now;
    return;
  }
  if (out_.error || std::chrono::duration<double>(now - moved_at_).count() < options_.stall_timeout_s) return;
  fail({ErrorCode::timeout, fmt::format("no result came for {:g} s: an inference hangs", options_.stall_timeout_s)});
  process_->signal_group(SIGKILL);
}

void StreamChild::died() {
  const bool killed_by_us = out_.error.has_value();
  auto exit = process_->wait_for(killed_by_us ? std::chrono::nanoseconds(0) : std::chrono::nanoseconds(kLastLine));
  if (!exit) {
    process_->signal_group(SIGKILL);
    exit = process_->wait();
  }
  if (killed_by_us) return;
  const auto kills = host::oom_kills();
  const auto last = tail_.last_line();
  const auto words = last.empty() ? std::string() : fmt::format("; it printed: {}", last);
  if (exit->signal == SIGKILL && oom_kills_before_ && kills && *kills > *oom_kills_before_)
    return fail({ErrorCode::out_of_memory, "the pipeline's process was killed because memory ran out",
                 "use fewer streams, a smaller batch_size or a smaller inference_scale"});
  if (exit->signal)
    return fail({ErrorCode::crashed, fmt::format("the pipeline's process died of {} ({}){}", signal_name(*exit->signal),
                                                 ::strsignal(*exit->signal), words)});
  fail({ErrorCode::crashed,
        fmt::format("the pipeline's process ended with exit code {}{}", exit->exit_code.value_or(0), words)});
}

/// Frames that had come in and whose lines had not.
void StreamChild::tell_lost() {
  for (std::uint32_t source = 0; source < kMostSources; ++source) {
    const auto taken = counts_->taken[source].load();
    for (auto sequence = told_[source]; sequence < taken; ++sequence) {
      ++out_.lost;
      take_frame(lost_frame_line(source, sequence, stream::DropReason::crashed));
    }
  }
  if (out_.lost > 0 && is_writing_ && out_.error)
    out_.error->message += fmt::format("; {} frames were in the pipeline", out_.lost);
  if (over_ && !out_.error) return;
  // The last status is older than the last lines.
  out_.status.dropped = dropped_;
  const auto skipped = out_.status.dropped.extract(std::string(to_string(stream::DropReason::skipped)));
  out_.status.skipped = skipped.empty() ? 0 : skipped.mapped();
  out_.status.offered = static_cast<std::int64_t>(out_.lines);
  out_.status.delivered = out_.status.offered - out_.status.all_dropped() - out_.status.skipped;
  out_.status.in_flight = 0;
}

}  // namespace

base::Result<StreamOutcome> run_stream(const schema::StreamSpec& spec, const StreamChildOptions& options) {
  RL_TRY_ASSIGN(auto counts, SharedMemory<StreamCounts>::create());
  StreamChild child(options, std::move(counts));
  RL_TRY(child.start(spec));
  return child.run();
}

}  // namespace ridgeline::execute
