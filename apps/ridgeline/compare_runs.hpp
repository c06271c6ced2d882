// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// Adds a command that compares two runs, or two files of profilers: `compare`, and `profile diff`.
void add_comparison(CLI::App& app, Context& context, const std::string& name, const std::string& description,
                    const std::string& example);

}  // namespace ridgeline::app
