// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.hpp"

namespace ridgeline::app {

/// What the parser refused, in our words: the option or argument, its value, what was expected. `words` is the command
/// line, the program's name first; `hint` is what an option's own check advises, or "".
[[nodiscard]] base::Error parse_mistake(const CLI::ParseError& error, const CLI::App& cli,
                                        const std::vector<std::string>& words, const std::string& hint);

/// The same of one option's value; "": the error is not about this option.
[[nodiscard]] std::string option_mistake(const CLI::ParseError& error, const CLI::Option& option);

/// "help", "help tune", "help profile import" as the parser knows them: with --help at the end. Errors: an unknown
/// command.
[[nodiscard]] base::Result<std::vector<std::string>> with_help_words(std::vector<std::string> words,
                                                                     const CLI::App& cli);

/// What to call with a file that was given in the wrong place: "ridgeline tune model.onnx, or ...", or "".
[[nodiscard]] std::string commands_for_file(std::string_view file);

}  // namespace ridgeline::app
