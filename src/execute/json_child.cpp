// SPDX-License-Identifier: Apache-2.0
#include "execute/json_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <signal.h>

#include "execute/classify.hpp"
#include "execute/process_tree.hpp"
#include "execute/training_server.hpp"
#include "host/cgroup_limits.hpp"
#include "workload/failure_facts.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using workload::StepError;
using workload::StepResult;

constexpr int kChildSocket = 3;
constexpr const char* kMarkName = "RIDGELINE_TRAINING";  ///< tells what the process started from everybody else's
constexpr double kDyingLimitS = 2;                       ///< of a process that has closed its connection
constexpr int kChildPollMs = 50;
constexpr double kWhereLimitS = 0.5;  ///< for the word where it hangs

StepError plain_error(base::Error error) { return StepError{std::move(error), {}, {}, {}, {}}; }

}  // namespace

JsonChild::~JsonChild() { end(); }

void JsonChild::end() noexcept {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (process_) {
    const bool lives = !process_->poll();
    (void)end_detached(lives ? std::optional(process_->pid()) : std::nullopt, mark_);
  }
  process_.reset();  // kills and reaps the group
}

base::Result<void> JsonChild::start() {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    return base::fail(ErrorCode::io, "cannot make a socket for {}: {}", options_.what, std::strerror(errno));
  base::SubprocessOptions child;
  child.argv = options_.command;
  child.environment = options_.environment;
  child.environment.emplace_back("RIDGELINE_CHANNEL_FD", std::to_string(kChildSocket));
  const auto life = mark_of_a_life();
  child.environment.emplace_back(kMarkName, life);
  mark_ = fmt::format("{}={}", kMarkName, life);
  child.file_descriptors = {{sockets[1], kChildSocket}};
  buffer_.clear();
  if (!options_.log.empty()) output_.keep_in(options_.log);
  doing_ = "starting";
  tells_phases_ = false;
  oom_kills_before_ = kernel_kills();
  auto process = base::Subprocess::spawn(child);
  ::close(sockets[1]);
  if (!process) {
    ::close(sockets[0]);
    return tl::unexpected<base::Error>(std::move(process).error());
  }
  socket_ = sockets[0];
  ::fcntl(socket_, F_SETFL, O_NONBLOCK);
  process_.emplace(std::move(*process));
  return {};
}

std::optional<std::int64_t> JsonChild::kernel_kills() const {
  return options_.kernel_kills ? options_.kernel_kills() : host::oom_kills();
}

bool JsonChild::kernel_has_killed() const {
  const auto kills = kernel_kills();
  return kills && oom_kills_before_ && *kills > *oom_kills_before_;
}

bool JsonChild::send(const std::string& line) const {
  for (std::size_t done = 0; done < line.size();) {
    const auto sent = ::send(socket_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (sent > 0) {
      done += static_cast<std::size_t>(sent);
    } else if (sent < 0 && errno == EINTR) {
      continue;
    } else if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      // Requests are far smaller than a socket's buffer: one that fills it means that nobody reads.
      pollfd ready{socket_, POLLOUT, 0};
      if (::poll(&ready, 1, 1000) <= 0) return false;
    } else {
      return false;
    }
  }
  return true;
}

/// The process has ended, or is about to: what did it die of?
StepError JsonChild::died() {
  const auto status = process_->wait_for(base::from_seconds(kDyingLimitS));
  if (!status) return reject({ErrorCode::internal, options_.what + " closed its connection and goes on"});
  output_.drain(process_->output_fd());
  workload::FailureFacts facts;
  facts.exit_code = status->exit_code;
  facts.signal = status->signal;
  facts.kernel_oom_kill = kernel_has_killed();
  if (status->signal == SIGABRT) facts.type = workload::uncaught_type(output_.text());
  auto error = workload::judge_failure(facts);
  if (error.oom == schema::OomEvidence::exit_status)
    error.error.message = "the kernel's out-of-memory killer ended " + options_.what;
  else if (error.oom != schema::OomEvidence::none)
    error.error.message = fmt::format("{} was ended by an uncaught {}", options_.what, facts.type);
  else if (status->signal)
    error.error.message = fmt::format("{} was ended by {}{}", options_.what, signal_name(*status->signal),
                                      *status->signal == SIGKILL ? "; the kernel reports no out-of-memory kill" : "");
  else
    error.error = {ErrorCode::crashed,
                   fmt::format("{} ended with exit code {}", options_.what, status->exit_code.value_or(0))};
  if (const auto last = output_.last_line(); !last.empty()) error.error.message += ": " + last;
  error.output_tail = output_.text();
  end();
  return error;
}

StepError JsonChild::reject(base::Error reason) {
  if (process_) output_.drain(process_->output_fd());
  StepError error = plain_error(std::move(reason));
  error.output_tail = output_.text();
  end();
  return error;
}

struct JsonChild::Waiting {
  base::Nanoseconds since{0};
  double limit_s = 0;
};

std::optional<std::string> JsonChild::buffered_line() {
  const auto end_of_line = buffer_.find('\n');
  if (end_of_line == std::string::npos) return std::nullopt;
  auto line = buffer_.substr(0, end_of_line);
  buffer_.erase(0, end_of_line + 1);
  return line;
}

bool JsonChild::read_more(int poll_ms) {
  std::array<pollfd, 2> ready{pollfd{socket_, POLLIN, 0}, pollfd{process_->output_fd(), POLLIN, 0}};
  ::poll(ready.data(), ready.size(), poll_ms);
  if (ready[1].revents != 0 && !output_.drain(process_->output_fd())) {
    // Its output is closed; the answer may still come.
    pollfd answer{socket_, POLLIN, 0};
    ::poll(&answer, 1, poll_ms);
  }
  std::array<char, 65536> piece;
  const auto got = ::recv(socket_, piece.data(), piece.size(), 0);
  if (got > 0) buffer_.append(piece.data(), static_cast<std::size_t>(got));
  const bool broken = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
  // Its workers may hold the socket open after the process itself has died.
  return !broken && (got >= 0 || !process_->poll());
}

StepResult<std::string> JsonChild::receive(const Waiting& waiting) {
  const auto& clock = base::system_clock();
  while (true) {
    if (auto line = buffered_line()) return std::move(*line);
    if (buffer_.size() > kLongestLine)
      return tl::unexpected(reject({ErrorCode::corrupt, options_.what + " sent a line without end"}));
    if (options_.cancelled && options_.cancelled())
      return tl::unexpected(reject({ErrorCode::cancelled, "stopped by a signal"}));
    const auto now = clock.now();
    if (now >= waiting.since + base::from_seconds(waiting.limit_s) ||
        (options_.deadline && now >= options_.deadline->at))
      return tl::unexpected(late(waiting));
    if (options_.waiting) options_.waiting(doing_, base::to_seconds(now - waiting.since));
    if (!read_more(kChildPollMs)) return tl::unexpected(died());
  }
}

bool JsonChild::take_phase(const base::Result<base::Json>& line) {
  if (!line || !line->is_object() || !line->contains("doing")) return false;
  const auto text = [&](const char* key) {
    const auto found = line->find(key);
    return found != line->end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  doing_ = text("doing");
  at_ = text("at");
  tells_phases_ = true;
  return true;
}

std::string JsonChild::where_it_is() {
  const auto& clock = base::system_clock();
  at_.clear();
  if (tells_phases_) ::kill(process_->pid(), SIGUSR1);
  const auto end = clock.now() + base::from_seconds(kWhereLimitS);
  while (tells_phases_ && clock.now() < end) {
    const auto line = buffered_line();
    if (line && take_phase(base::parse_json(*line, options_.what + "'s phase"))) break;
    if (!line && !read_more(kChildPollMs)) break;
  }
  if (doing_.empty()) return {};
  return fmt::format(", in phase \"{}\"{}{}", doing_, at_.empty() ? "" : " at ", at_);
}

StepError JsonChild::late(const Waiting& waiting) {
  const bool all_over = options_.deadline && base::system_clock().now() >= options_.deadline->at;
  const auto where = where_it_is();
  return reject({ErrorCode::timeout,
                 all_over ? options_.deadline->text + where
                          : fmt::format("no answer from {} within {:.0f} s{}", options_.what, waiting.limit_s, where)});
}

StepResult<base::Json> JsonChild::ask(const base::Json& request, double limit_s) {
  doing_.clear();
  if (!process_) {
    if (auto started = start(); !started) return tl::unexpected(plain_error(std::move(started).error()));
  }
  if (!send(base::dump_json(request) + "\n")) return tl::unexpected(died());
  const Waiting waiting{base::system_clock().now(), limit_s};
  base::Result<base::Json> answer;
  do {
    auto line = receive(waiting);
    if (!line) return tl::unexpected(std::move(line).error());
    answer = base::parse_json(*line, options_.what + "'s answer");
  } while (take_phase(answer));
  if (answer && answer->is_object() && answer->contains("ok")) return answer->at("ok");
  if (answer && answer->is_object() && answer->contains("error")) {
    const auto facts = base::json_as<workload::FailureFacts>(answer->at("error"), options_.what + "'s error");
    if (facts) {
      auto known = *facts;
      known.kernel_oom_kill = kernel_has_killed();
      auto error = workload::judge_failure(known);
      output_.drain(process_->output_fd());
      error.output_tail = output_.text();
      return tl::unexpected(std::move(error));
    }
  }
  return tl::unexpected(reject({ErrorCode::corrupt, options_.what + " answered what is no message of ours"}));
}

void JsonChild::forget_past() {
  output_.clear();
  oom_kills_before_ = kernel_kills();
}

/// What the process still writes is read: it must not wait for room in the pipe.
void JsonChild::wait_for_end() noexcept {
  const auto& clock = base::system_clock();
  auto end = clock.now() + base::from_seconds(options_.close_limit_s);
  if (options_.deadline) end = std::min(end, std::max(clock.now(), options_.deadline->at));
  while (!process_->wait_for(base::from_seconds(kChildPollMs * 1e-3)) && clock.now() < end)
    output_.drain(process_->output_fd());
  output_.drain(process_->output_fd());
}

void JsonChild::close() noexcept {
  if (process_ && send("{\"op\":\"close\"}\n")) wait_for_end();
  end();
}

}  // namespace ridgeline::execute
