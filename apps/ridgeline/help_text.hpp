// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// How much of a command's help is printed: `brief` is at most kBriefLines lines, `usual` leaves out options that few
/// people need, `all` has every option.
enum class HelpLevel { brief, usual, all };
inline constexpr int kBriefLines = 15;

/// The level that -h, --help or --help-all asks for.
[[nodiscard]] HelpLevel help_level(std::string_view word);

/// The help of a command, wrapped at `width` columns (40 at least). `context` has the words of its options.
[[nodiscard]] std::string help_text(const CLI::App& command, const Context& context, HelpLevel level, int width);

}  // namespace ridgeline::app
