// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ridgeline::trace {

/// Base64 of RFC 4648, padded, in one line.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace ridgeline::trace
