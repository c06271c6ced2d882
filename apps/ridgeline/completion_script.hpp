// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// Completion scripts made from the command tree itself: subcommands, options, words of choice options, parameter keys
/// for --set, run ids from the results file, files elsewhere.
[[nodiscard]] std::string bash_completion(const CLI::App& app, const Context& context);
[[nodiscard]] std::string zsh_completion(const CLI::App& app, const Context& context);

}  // namespace ridgeline::app
