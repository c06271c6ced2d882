// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ridgeline::app {

/// All exit codes with their meanings, for `ridgeline --help`.
[[nodiscard]] std::string exit_code_table();

/// What the exit codes mean that not every command has, for the help of the command ("stream bench"); "" for one that
/// has none of them.
[[nodiscard]] std::string exit_codes_of(std::string_view command);

}  // namespace ridgeline::app
