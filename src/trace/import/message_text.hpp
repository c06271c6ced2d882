// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ridgeline::trace {

/// Text of a file for a message, a note or a place, which are one line: control characters are escaped ("\x1b"), and
/// what is longer than 1,000 bytes is cut.
[[nodiscard]] std::string message_text(std::string_view text);

}  // namespace ridgeline::trace
