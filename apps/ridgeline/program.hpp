// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// All commands of the program, which answer through `context`; both must outlive the parser.
void add_commands(CLI::App& cli, Context& context);

/// `ridgeline` with these words, the program's own name first; its exit code (exit_code_text.hpp). Faults are a line on
/// standard error, and never thrown.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace ridgeline::app
