// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/error.hpp"

namespace ridgeline::app {

/// Whether a file that a command writes is one that another word of the command line names, as an input or as another
/// output: what is in it would be lost. `words`: all of the command line, those behind "--" included. Files that a
/// command changes in place (--config with --apply) are no outputs. Errors: invalid_argument, naming both.
[[nodiscard]] base::Result<void> check_outputs(const CLI::App& cli, const std::vector<std::string>& words);

}  // namespace ridgeline::app
