// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ridgeline::workload {

/// ONNX Runtime's text without the source path and function it starts with, on one line, at most 300
/// characters and three dots, which stand for what is left out of the middle.
[[nodiscard]] std::string shorten_ort_message(std::string_view message);

/// Our class for a failed status, from its OrtErrorCode and its text: unsupported (operator, type, opset or IR version
/// that this runtime cannot run), out_of_memory, corrupt (not a valid model), not_found, unavailable (a provider's
/// library cannot be loaded), invalid_argument (an illegal setting or input), cancelled, else internal.
[[nodiscard]] base::Error classify_ort_error(int ort_error_code, std::string_view message);

/// What an allocation that failed had asked for, from texts like "requested buffer of size N" and "Available memory of
/// M is smaller than requested bytes of N"; of several the last.
[[nodiscard]] std::optional<std::int64_t> requested_bytes(std::string_view text);

}  // namespace ridgeline::workload
