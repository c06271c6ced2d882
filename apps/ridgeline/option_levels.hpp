// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace ridgeline::app {

/// The options that most users of a command ("stream bench") need, in the order in which its -h lists them; empty: all
/// of its options are that.
[[nodiscard]] std::vector<std::string_view> key_options(std::string_view command);

/// The options of a command that only --help-all shows.
[[nodiscard]] std::vector<std::string_view> seldom_options(std::string_view command);
/// The options of a command that only --help-all shows.
[[nodiscard]] std::vector<std::string_view> seldom_options(std::string_view command);
/// Whether only --help-all shows the option ("--seed") of a command.
[[nodiscard]] bool is_seldom_used(std::string_view command, std::string_view option);

}  // namespace ridgeline::app
