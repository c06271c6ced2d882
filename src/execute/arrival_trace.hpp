// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::execute {

/// When frames came, in nanoseconds: `text` has seconds since the start, one a line, from 0 on and not decreasing;
/// empty lines, and what follows a #, are skipped. Errors: invalid_argument, naming `file` and the line; no time at
/// all.
[[nodiscard]] base::Result<std::vector<std::int64_t>> parse_arrival_trace(std::string_view text, std::string_view file);

}  // namespace ridgeline::execute
