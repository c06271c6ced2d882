// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/json.hpp"
#include "schema/message_template.hpp"

namespace ridgeline::report {

/// The value that argument_text writes so, as far as its digits tell; nullopt where none is. Of kinds that are written
/// as values, messages excepted.
[[nodiscard]] std::optional<base::Json> argument_value(schema::ArgumentKind kind, std::string_view style,
                                                       std::string_view text);

}  // namespace ridgeline::report
