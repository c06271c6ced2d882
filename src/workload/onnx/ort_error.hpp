// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ridgeline::workload {

/// ONNX Runtime's text without the source path and function it starts with, on one line, at most 300 characters.
[[nodiscard]] std::string shorten_ort_message(std::string_view message);

/// Our class for a failed status, from its OrtErrorCode and its text: unsupported (operator, type, opset or IR version
/// that this runtime cannot run), out_of_memory, corrupt (not a valid model), not_found, unavailable (a provider's
/// library cannot be loaded), invalid_argument (an illegal setting or input), cancelled, else internal.
[[nodiscard]] base::Error classify_ort_error(int ort_error_code, std::string_view message);

/// Bytes named by "requested buffer of size N" style texts, or 0.
[[nodiscard]] std::int64_t requested_bytes(std::string_view message);

}  // namespace ridgeline::workload
