// SPDX-License-Identifier: Apache-2.0
#include "execute/training_server.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "host/this_process.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::Json;
using base::Result;
using workload::StepError;
using workload::StepResult;

constexpr int kCudaErrorMemoryAllocation = 2;

StepError plain(ErrorCode code, std::string message) { return StepError{{code, std::move(message)}, {}, {}, {}, {}}; }

/// One line of the socket; "" when the other end has gone.
Result<std::string> read_line(int socket, std::string& buffer) {
  while (true) {
    if (const auto end = buffer.find('\n'); end != std::string::npos) {
      auto line = buffer.substr(0, end + 1);
      buffer.erase(0, end + 1);
      return line;
    }
    if (buffer.size() > kLongestLine) return base::fail(ErrorCode::corrupt, "a request without end");
    std::array<char, 65536> piece;
    const auto got = ::read(socket, piece.data(), piece.size());
    if (got == 0) return std::string{};
    if (got > 0)
      buffer.append(piece.data(), static_cast<std::size_t>(got));
    else if (errno != EINTR)
      return base::fail(ErrorCode::io, "the parent process's socket: {}", std::strerror(errno));
  }
}

Result<void> write_line(int socket, const Json& message) {
  const auto line = base::dump_json(message) + "\n";
  for (std::size_t done = 0; done < line.size();) {
    const auto put = ::write(socket, line.data() + done, line.size() - done);
    if (put > 0)
      done += static_cast<std::size_t>(put);
    else if (errno != EINTR)
      return base::fail(ErrorCode::io, "the parent process's socket: {}", std::strerror(errno));
  }
  return {};
}

std::optional<double> host_memory_gb() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto page = ::sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page <= 0) return std::nullopt;
  return static_cast<double>(pages) * static_cast<double>(page) / 1e9;
}

}  // namespace

workload::FailureFacts facts_of(const StepError& error) {
  workload::FailureFacts facts;
  facts.message = error.error.message;
  facts.hint = error.error.hint;
  switch (error.oom) {
    case schema::OomEvidence::none: break;
    case schema::OomEvidence::error_code: facts.cuda_error = kCudaErrorMemoryAllocation; return facts;
    case schema::OomEvidence::allocator_counter: facts.ooms_risen = 1; return facts;
    case schema::OomEvidence::text: return facts;
    default: facts.type = "c10::OutOfMemoryError"; return facts;
  }
  facts.user_error = error.error.code == ErrorCode::not_found || error.error.code == ErrorCode::unavailable;
  facts.bad_settings = error.error.code == ErrorCode::invalid_argument || error.error.code == ErrorCode::unsupported;
  return facts;
}

Result<void> TrainingServer::serve(int socket) {
  std::string buffer;
  while (true) {
    RL_TRY_ASSIGN(const auto line, read_line(socket, buffer));
    if (line.empty()) return {};
    RL_TRY_ASSIGN(const auto request, base::parse_json(line, "the parent process's request"));
    if (!request.is_object() || !request.contains("op") || !request.at("op").is_string())
      return base::fail(ErrorCode::corrupt, "a request without \"op\": {}", line.substr(0, 200));
    const bool closing = request.at("op") == "close";
    if (closing) runner_.close();
    const auto result = closing ? StepResult<Json>(Json::object()) : answer(request);
    RL_TRY(write_line(socket, result ? Json{{"ok", *result}} : Json{{"error", facts_of(result.error())}}));
    if (closing) return {};
  }
}

StepResult<Json> TrainingServer::answer(const Json& request) {
  const auto& op = request.at("op").get_ref<const std::string&>();
  if (op == "describe") return describe_(request);
  if (op == "prepare") return prepare(request);
  if (op == "release") return release();
  if (!prepared_) return tl::unexpected(plain(ErrorCode::internal, fmt::format("request {} before prepare", op)));
  if (op == "run") return run(request);
  if (op == "reset") return reset();
  if (op == "resources") return resources();
  return tl::unexpected(plain(ErrorCode::internal, fmt::format("unknown request {}", op)));
}

StepResult<Json> TrainingServer::prepare(const Json& request) {
  if (prepared_) return tl::unexpected(plain(ErrorCode::internal, "prepared twice"));
  auto spec = base::json_as<schema::TrainingTrialSpec>(request.value("spec", Json::object()), "a trial to prepare");
  if (!spec) return tl::unexpected(StepError{std::move(spec).error(), {}, {}, {}, {}});
  on_cpu_ = schema::is_cpu_device(spec->device);
  auto ready = runner_.prepare(*spec);
  if (!ready) return tl::unexpected(std::move(ready).error());
  prepared_ = true;
  return Json::object();
}

StepResult<Json> TrainingServer::release() {
  runner_.close();
  prepared_ = false;
  return Json{{"kept", runner_.renew()}};
}

StepResult<Json> TrainingServer::run(const Json& request) {
  const auto steps = base::json_as<std::int64_t>(request.value("steps", Json(0)), "number of steps");
  if (!steps || *steps < 1) return tl::unexpected(plain(ErrorCode::internal, "a run of no steps"));
  auto window = runner_.run(*steps);
  if (!window) return tl::unexpected(std::move(window).error());
  auto rows = Json::array();
  for (const auto& step : window->steps)
    rows.push_back({step.io_wait_ms, step.h2d_ms, step.forward_ms, step.backward_ms, step.optimizer_ms, step.rest_ms,
                    step.wall_ms});
  return Json{{"steps", std::move(rows)}, {"wall_ms", window->wall_ms}};
}

StepResult<Json> TrainingServer::reset() {
  if (on_cpu_) host::reset_peak_rss();
  auto done = runner_.reset_peaks();
  if (!done) return tl::unexpected(std::move(done).error());
  return Json::object();
}

StepResult<Json> TrainingServer::resources() {
  auto known = runner_.resources();
  if (!known) return tl::unexpected(std::move(known).error());
  if (on_cpu_) {
    // There is no allocator to ask: what counts is the memory of this process.
    if (const auto peak = host::peak_rss_bytes()) known->peak_reserved_gb = static_cast<double>(*peak) / 1e9;
    known->device_capacity_gb = host_memory_gb();
  }
  const bool finite = !known->last_loss || std::isfinite(*known->last_loss);
  if (!finite) known->last_loss.reset();
  Json out = *known;
  // JSON has no NaN.
  if (!finite) out["loss_not_finite"] = true;
  return out;
}

}  // namespace ridgeline::execute
