// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"

namespace ridgeline::report {

/// Plain text on one line.
[[nodiscard]] std::string plain_html(std::string_view text);
/// Inline text, its marks as elements.
[[nodiscard]] std::string inline_html(std::string_view text);
/// JSON for a script element: no "<" that could end it, no line separators that old scripts choke on.
[[nodiscard]] std::string script_json(const base::Json& json);
/// Script text that cannot end its element: "<\/script" means the same inside a string.
[[nodiscard]] std::string script_text(std::string_view text);

}  // namespace ridgeline::report
