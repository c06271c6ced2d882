// SPDX-License-Identifier: Apache-2.0
#include "workload/training/plugin_error.hpp"

#include <cstring>
#include <string>

#include "workload/failure_facts.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::OomEvidence;

OomEvidence evidence_of(std::int32_t evidence) {
  switch (evidence) {
    case RL_OOM_ERROR_CODE: return OomEvidence::error_code;
    case RL_OOM_ALLOCATOR_COUNTER: return OomEvidence::allocator_counter;
    case RL_OOM_TEXT: return OomEvidence::text;
    default: return OomEvidence::type;
  }
}

rl_train_code code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return RL_TRAIN_INVALID;
    case ErrorCode::out_of_memory: return RL_TRAIN_OUT_OF_MEMORY;
    case ErrorCode::unsupported: return RL_TRAIN_UNSUPPORTED;
    case ErrorCode::not_found:
    case ErrorCode::unavailable: return RL_TRAIN_UNAVAILABLE;
    default: return RL_TRAIN_FAILED;
  }
}

}  // namespace

rl_train_error empty_plugin_error() noexcept {
  rl_train_error error{};
  error.struct_size = sizeof error;
  return error;
}

StepError read_plugin_error(std::int32_t code, const rl_train_error& error) {
  const std::string text(error.message, ::strnlen(error.message, sizeof error.message));
  StepError out;
  out.error.message = text.empty() ? fmt::format("the torch plugin gave code {} and no reason", code) : text;
  switch (code) {
    case RL_TRAIN_INVALID: out.error.code = ErrorCode::invalid_argument; break;
    case RL_TRAIN_UNSUPPORTED: out.error.code = ErrorCode::unsupported; break;
    case RL_TRAIN_UNAVAILABLE: out.error.code = ErrorCode::unavailable; break;
    case RL_TRAIN_OUT_OF_MEMORY:
      out.error.code = ErrorCode::out_of_memory;
      out.oom = evidence_of(error.evidence);
      break;
    default: {
      FailureFacts facts;
      facts.type = "c10::Error";
      facts.message = text;
      out.oom = oom_evidence(facts);
      out.error.code = out.oom == OomEvidence::none ? ErrorCode::internal : ErrorCode::out_of_memory;
    }
  }
  return out;
}

std::int32_t write_plugin_error(const base::Error& error, rl_train_error* out) noexcept {
  const auto code = code_of(error.code);
  if (out == nullptr || out->struct_size < sizeof *out) return code;
  out->code = code;
  out->evidence = code == RL_TRAIN_OUT_OF_MEMORY ? RL_OOM_TYPE : RL_OOM_NONE;
  // As base::error_line, which would allocate: the plugin has room for one line.
  const auto written = fmt::format_to_n(out->message, sizeof out->message - 1, "{}{}{}", error.message,
                                        error.hint.empty() ? "" : "; ", error.hint);
  *written.out = '\0';
  return code;
}

}  // namespace ridgeline::workload
