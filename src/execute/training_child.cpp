// SPDX-License-Identifier: Apache-2.0
#include "execute/training_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include <signal.h>

#include "execute/classify.hpp"
#include "execute/process_tree.hpp"
#include "execute/training_server.hpp"
#include "host/cgroup_limits.hpp"
#include "workload/training/failure_facts.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using workload::StepError;
using workload::StepResult;

constexpr int kChildSocket = 3;
constexpr const char* kMarkName = "RIDGELINE_TRAINING";  ///< tells what the process started from everybody else's
constexpr double kLongestWindowS = 600;
constexpr double kQuestionLimitS = 60;
constexpr double kCloseLimitS = 2;  ///< of a polite end; the group is killed afterwards
constexpr int kChildPollMs = 50;
constexpr std::size_t kPhases = 7;

StepError plain_error(base::Error error) { return StepError{std::move(error), {}, {}, {}, {}}; }

/// `batch`: samples that each step is to have; a process that counts them says how many they were.
base::Result<workload::StepWindow> window_of(const base::Json& answer, std::int64_t batch) {
  RL_TRY_ASSIGN(const auto rows, base::json_as<std::vector<std::vector<double>>>(
                                     answer.value("steps", base::Json::array()), "steps of a trial"));
  workload::StepWindow out;
  out.wall_ms = answer.value("wall_ms", 0.0);
  for (const auto& row : rows) {
    const bool sound =
        row.size() == kPhases && std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
    if (!sound)
      return base::fail(ErrorCode::corrupt, "a step has {} times, expected {} finite ones", row.size(), kPhases);
    out.steps.push_back({row[0], row[1], row[2], row[3], row[4], row[5], row[6]});
  }
  if (answer.contains("samples")) {
    RL_TRY_ASSIGN(const auto samples, base::json_as<std::int64_t>(answer.at("samples"), "samples of a trial"));
    if (samples != batch * static_cast<std::int64_t>(rows.size()))
      return base::fail(ErrorCode::corrupt, "{} steps trained {} samples, expected {} each", rows.size(), samples,
                        batch);
  }
  return out;
}

}  // namespace

TrainingChild::~TrainingChild() { end(); }

void TrainingChild::end() noexcept {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (process_) {
    const bool lives = !process_->poll();
    (void)end_detached(lives ? std::optional(process_->pid()) : std::nullopt, mark_);
  }
  process_.reset();  // kills and reaps the group
}

base::Result<void> TrainingChild::start() {
  std::array<int, 2> sockets{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    return base::fail(ErrorCode::io, "cannot make a socket for the training process: {}", std::strerror(errno));
  base::SubprocessOptions child;
  child.argv = options_.command;
  child.environment = options_.environment;
  child.environment.emplace_back("RIDGELINE_TRAIN_FD", std::to_string(kChildSocket));
  const auto life = fmt::format("{}-{}", ::getpid(), base::system_clock().now().count());
  child.environment.emplace_back(kMarkName, life);
  mark_ = fmt::format("{}={}", kMarkName, life);
  child.file_descriptors = {{sockets[1], kChildSocket}};
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

std::optional<std::int64_t> TrainingChild::kernel_kills() const {
  return options_.kernel_kills ? options_.kernel_kills() : host::oom_kills();
}

bool TrainingChild::kernel_has_killed() const {
  const auto kills = kernel_kills();
  return kills && oom_kills_before_ && *kills > *oom_kills_before_;
}

bool TrainingChild::send(const std::string& line) const {
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
StepError TrainingChild::died() {
  const auto status = process_->wait_for(base::from_seconds(kCloseLimitS));
  if (!status) return killed(ErrorCode::internal, "the training process closed its connection and goes on");
  output_.drain(process_->output_fd());
  workload::FailureFacts facts;
  facts.exit_code = status->exit_code;
  facts.signal = status->signal;
  facts.kernel_oom_kill = kernel_has_killed();
  if (status->signal == SIGABRT) facts.type = workload::uncaught_type(output_.text());
  auto error = workload::judge_failure(facts);
  if (error.oom == schema::OomEvidence::exit_status)
    error.error.message = "the kernel's out-of-memory killer ended the training process";
  else if (error.oom != schema::OomEvidence::none)
    error.error.message = fmt::format("the training process was ended by an uncaught {}", facts.type);
  else if (status->signal)
    error.error.message = fmt::format("the training process was ended by {}{}", signal_name(*status->signal),
                                      *status->signal == SIGKILL ? "; the kernel reports no out-of-memory kill" : "");
  else
    error.error = {ErrorCode::crashed,
                   fmt::format("the training process ended with exit code {}", status->exit_code.value_or(0))};
  if (const auto last = output_.last_line(); !last.empty()) error.error.message += ": " + last;
  error.output_tail = output_.text();
  end();
  return error;
}

StepError TrainingChild::killed(ErrorCode code, std::string message) {
  if (process_) output_.drain(process_->output_fd());
  StepError error = plain_error({code, std::move(message)});
  error.output_tail = output_.text();
  end();
  return error;
}

StepResult<std::string> TrainingChild::receive(double limit_s) {
  const auto& clock = base::system_clock();
  const auto deadline = clock.now() + base::from_seconds(limit_s);
  while (true) {
    if (const auto end_of_line = buffer_.find('\n'); end_of_line != std::string::npos) {
      auto line = buffer_.substr(0, end_of_line);
      buffer_.erase(0, end_of_line + 1);
      return line;
    }
    if (buffer_.size() > kLongestLine)
      return tl::unexpected(killed(ErrorCode::corrupt, "the training process sent a line without end"));
    if (options_.cancelled && options_.cancelled())
      return tl::unexpected(killed(ErrorCode::cancelled, "stopped by a signal"));
    if (clock.now() >= deadline)
      return tl::unexpected(
          killed(ErrorCode::timeout, fmt::format("no answer from the training process within {:.0f} s", limit_s)));
    std::array<pollfd, 2> ready{pollfd{socket_, POLLIN, 0}, pollfd{process_->output_fd(), POLLIN, 0}};
    ::poll(ready.data(), ready.size(), kChildPollMs);
    if (ready[1].revents != 0 && !output_.drain(process_->output_fd())) {
      // Its output is closed; the answer may still come.
      pollfd answer{socket_, POLLIN, 0};
      ::poll(&answer, 1, kChildPollMs);
    }
    std::array<char, 65536> piece;
    const auto got = ::recv(socket_, piece.data(), piece.size(), 0);
    if (got > 0) buffer_.append(piece.data(), static_cast<std::size_t>(got));
    const bool broken = got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
    // Its workers may hold the socket open after the process itself has died.
    if (broken || (got < 0 && process_->poll())) return tl::unexpected(died());
  }
}

StepResult<base::Json> TrainingChild::ask(const base::Json& request, double limit_s) {
  if (!process_) {
    if (auto started = start(); !started) return tl::unexpected(plain_error(std::move(started).error()));
  }
  if (!send(base::dump_json(request) + "\n")) return tl::unexpected(died());
  auto line = receive(limit_s);
  if (!line) return tl::unexpected(std::move(line).error());
  const auto answer = base::parse_json(*line, "the training process's answer");
  if (answer && answer->is_object() && answer->contains("ok")) return answer->at("ok");
  if (answer && answer->is_object() && answer->contains("error")) {
    const auto facts = base::json_as<workload::FailureFacts>(answer->at("error"), "the training process's error");
    if (facts) {
      auto known = *facts;
      known.kernel_oom_kill = kernel_has_killed();
      auto error = workload::judge_failure(known);
      output_.drain(process_->output_fd());
      error.output_tail = output_.text();
      return tl::unexpected(std::move(error));
    }
  }
  return tl::unexpected(killed(ErrorCode::corrupt, "the training process answered what is no message of ours"));
}

StepResult<void> TrainingChild::prepare(const schema::TrainingTrialSpec& spec) {
  plan_ = spec.plan;
  batch_ = spec.settings.batch;
  // What an earlier trial of this process left behind is not this one's.
  output_.clear();
  oom_kills_before_ = kernel_kills();
  auto answer = ask({{"op", "prepare"}, {"spec", spec}}, plan_.prepare_limit_s);
  if (!answer) return tl::unexpected(std::move(answer).error());
  return {};
}

StepResult<workload::StepWindow> TrainingChild::run(std::int64_t steps) {
  const double limit =
      std::max(plan_.step_limit_s, std::min(kLongestWindowS, plan_.step_limit_s * static_cast<double>(steps)));
  auto answer = ask({{"op", "run"}, {"steps", steps}}, limit);
  if (!answer) return tl::unexpected(std::move(answer).error());
  auto window = window_of(*answer, batch_);
  if (!window) return tl::unexpected(killed(window.error().code, std::move(window).error().message));
  return std::move(*window);
}

StepResult<void> TrainingChild::reset_peaks() {
  auto answer = ask({{"op", "reset"}}, kQuestionLimitS);
  if (!answer) return tl::unexpected(std::move(answer).error());
  return {};
}

StepResult<schema::TrainingResources> TrainingChild::resources() {
  auto answer = ask({{"op", "resources"}}, kQuestionLimitS);
  if (!answer) return tl::unexpected(std::move(answer).error());
  auto resources = base::json_as<schema::TrainingResources>(*answer, "resources of a trial");
  if (!resources) return tl::unexpected(killed(resources.error().code, std::move(resources).error().message));
  if (answer->is_object() && answer->value("loss_not_finite", false))
    resources->last_loss = std::numeric_limits<double>::quiet_NaN();
  return std::move(*resources);
}

bool TrainingChild::renew() noexcept {
  if (!process_) return false;
  const auto answer = ask({{"op", "release"}}, kQuestionLimitS);
  if (answer && answer->is_object() && answer->value("kept", false)) return true;
  close();
  return false;
}

void TrainingChild::close() noexcept {
  if (process_ && send("{\"op\":\"close\"}\n")) (void)process_->wait_for(base::from_seconds(kCloseLimitS));
  end();
}

}  // namespace ridgeline::execute
