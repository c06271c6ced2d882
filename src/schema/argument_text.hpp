// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "schema/message_template.hpp"

namespace ridgeline::schema {

/// A value of a message in words. `style`: "" (as ArgumentKind says), a format of {fmt} for numbers (".0f",
/// "+.1f"; of a share: of its percentage), "metric" (numbers: "4.50 M"), "prefix" (numbers, before the letters of a
/// unit: "4.50 M", "12 "), "fine" and "rough" (shares), "fine" (ratios), "plain" (trials: "3 and 7"), "join:SEPARATOR"
/// (texts). Messages are none of its business. A value of another type than the kind's is dumped as JSON.
[[nodiscard]] std::string argument_text(ArgumentKind kind, std::string_view style, const base::Json& value);

}  // namespace ridgeline::schema
