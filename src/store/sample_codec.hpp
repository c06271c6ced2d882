// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::store {

/// Samples as bytes, exactly: whole nanoseconds (nearly always) as the variable-length differences of neighbours, two
/// to three bytes each instead of eight; anything else as raw little-endian doubles. The first byte names the form.
[[nodiscard]] std::string encode_samples(const std::vector<double>& samples);

/// Errors: corrupt (unknown form, cut off, bytes left over).
[[nodiscard]] base::Result<std::vector<double>> decode_samples(std::string_view bytes);

}  // namespace ridgeline::store
