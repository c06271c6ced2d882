// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// Completion scripts made from the command tree itself: subcommands, options, words of choice options, keys of --set
/// and --stream, runs of the results file (`ridgeline complete-runs`), models, scripts and other files.
[[nodiscard]] std::string bash_completion(const CLI::App& app, const Context& context);
[[nodiscard]] std::string zsh_completion(const CLI::App& app, const Context& context);
[[nodiscard]] std::string fish_completion(const CLI::App& app, const Context& context);

}  // namespace ridgeline::app
