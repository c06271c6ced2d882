// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace ridgeline::app {

/// The present name of an option of a command ("profile import"), "--no-ablation" or "--no-ablation=x", for one that
/// had another name until version 0.2, with a note on standard error; any other word as it is.
[[nodiscard]] std::string present_option(std::string_view command, std::string word);

/// The same for the first `count` words of a command line, the program's name first. Values of options, and what
/// follows "--", stay as they are.
void rename_options(std::vector<std::string>& words, std::size_t count, const CLI::App& cli);

/// Whether the word behind this one belongs to it.
[[nodiscard]] bool takes_next_word(const CLI::App& command, const std::string& word);

}  // namespace ridgeline::app
