// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// Gives the command's options the values that a YAML file has for them: `max-time: 5m`, `constraint: [a, b]`,
/// `quick: true`, each name as on the command line without its dashes (or with "_" for "-"). What the command line
/// gives counts before the file. What makes Ridgeline write into a file of the user's cannot stand in it.
/// Errors (invalid_argument, "file:line:column: ..."): malformed YAML, an unknown name with the nearest one, a value
/// that the option does not take; not_found.
[[nodiscard]] base::Result<void> read_options_file(CLI::App& command, const std::string& file);

}  // namespace ridgeline::app
