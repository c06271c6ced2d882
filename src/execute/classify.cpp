// SPDX-License-Identifier: Apache-2.0
#include "execute/classify.hpp"

#include <signal.h>
#include <string.h>

#include <algorithm>
#include <array>

#include "execute/messages.hpp"
#include "schema/error_message.hpp"
#include "schema/message_renderer.hpp"
#include "workload/onnx/ort_error.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using schema::TrialStatus;

bool tells_of_failed_allocation(std::string_view text) {
  constexpr std::array<std::string_view, 5> kSigns{"Failed to allocate memory", "bad_alloc", "out of memory",
                                                   "Out of memory", "bad allocation"};
  return std::any_of(kSigns.begin(), kSigns.end(),
                     [&](std::string_view sign) { return text.find(sign) != std::string_view::npos; });
}

}  // namespace

TrialStatus status_of(const base::Error& error) {
  switch (error.code) {
    case ErrorCode::out_of_memory: return TrialStatus::out_of_memory;
    case ErrorCode::unsupported: return TrialStatus::unsupported;
    case ErrorCode::refused_inputs:
    case ErrorCode::invalid_argument: return TrialStatus::invalid;
    case ErrorCode::timeout: return TrialStatus::timeout;
    case ErrorCode::crashed: return TrialStatus::crashed;
    default: return tells_of_failed_allocation(error.message) ? TrialStatus::out_of_memory : TrialStatus::failed;
  }
}

schema::Failure failure_of(const base::Error& error, schema::TrialPhase phase) {
  schema::Failure failure;
  failure.phase = phase;
  failure.message = schema::message_of(error);
  failure.requested_bytes = error.number > 0 && error.code == base::ErrorCode::out_of_memory
                                ? std::optional(error.number)
                                : workload::requested_bytes(error.message);
  return failure;
}

TrialStatus status_of(const WorkerDeath& death) {
  switch (death.cause) {
    case DeathCause::deadline:
    case DeathCause::stalled:
    case DeathCause::no_heartbeat: return TrialStatus::timeout;
    case DeathCause::protocol: return TrialStatus::crashed;
    case DeathCause::ended: break;
  }
  if (death.oom_killed || tells_of_failed_allocation(death.stderr_tail)) return TrialStatus::out_of_memory;
  return TrialStatus::crashed;
}

schema::Failure failure_of(const WorkerDeath& death) {
  schema::Failure failure;
  failure.phase = death.phase;
  failure.message = death.message;
  if (death.cause == DeathCause::ended) {  // a signal that we sent says nothing about the trial
    failure.exit_code = death.exit.exit_code;
    failure.signal = death.exit.signal;
  }
  failure.stderr_tail = death.stderr_tail;
  failure.requested_bytes = workload::requested_bytes(death.stderr_tail);
  return failure;
}

base::Error error_of(const WorkerDeath& death) {
  const auto status = status_of(death);
  const auto message = schema::text_of(death.message, messages::table());
  if (death.cause == DeathCause::ended && death.exit.signal == SIGFPE)  // integers alone raise it
    return {
        ErrorCode::refused_inputs, message + ": an integer was divided by 0, which an input holds or leads to",
        "give values above 0 with --input NAME=VALUE or --input NAME:FILE.npy, or other sizes with --shape NAME:AxB",
        SIGFPE};
  const auto code = status == TrialStatus::timeout         ? ErrorCode::timeout
                    : status == TrialStatus::out_of_memory ? ErrorCode::out_of_memory
                                                           : ErrorCode::crashed;
  return {code, message};
}

bool leaves_worker_usable(TrialStatus status) noexcept {
  return status == TrialStatus::ok || status == TrialStatus::invalid || status == TrialStatus::unsupported;
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace ridgeline::execute
