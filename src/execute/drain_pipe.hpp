// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace ridgeline::execute {

/// Reads what a non-blocking descriptor has, at most about `limit` bytes, and hands it to `take` in pieces. False at
/// its end or on an error.
[[nodiscard]] bool drain_pipe(int fd, std::size_t limit, const std::function<void(std::string_view)>& take);

}  // namespace ridgeline::execute
