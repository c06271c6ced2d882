// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.hpp"

namespace ridgeline::report {

/// Valid UTF-8 that is safe to show: broken bytes become U+FFFD; terminal escape sequences and control characters other
/// than newline and tab are dropped; "\r\n" becomes "\n".
[[nodiscard]] std::string clean_utf8(std::string_view text);

/// clean_utf8 with every run of white space as one blank and none at the ends.
[[nodiscard]] std::string one_line(std::string_view text);

using base::columns_of;
using base::shorten;
using base::shorten_front;

}  // namespace ridgeline::report
