// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

namespace ridgeline::base {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid argument";
    case ErrorCode::refused_inputs: return "refused inputs";
    case ErrorCode::not_found: return "not found";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::timeout: return "timeout";
    case ErrorCode::crashed: return "crashed";
    case ErrorCode::out_of_memory: return "out of memory";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::io: return "i/o";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::out_of_time: return "out of time";
    case ErrorCode::internal: return "internal";
  }
  return "internal";
}

std::string error_line(std::string_view message, std::string_view hint) {
  return hint.empty() ? std::string(message) : fmt::format("{}; {}", message, hint);
}

}  // namespace ridgeline::base
