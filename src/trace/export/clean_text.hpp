// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ridgeline::trace {

/// The text as UTF-8: as it is, or a copy in `room` with U+FFFD for each byte that is no character, as readers of
/// exported files refuse the rest with it.
[[nodiscard]] std::string_view clean_text(std::string_view text, std::string& room);

}  // namespace ridgeline::trace
