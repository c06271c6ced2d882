// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// What `ridgeline` alone prints: the newest run with its answer, three commands to go on with, and all commands.
[[nodiscard]] std::string overview_text(const CLI::App& cli, const Context& context, int width);

}  // namespace ridgeline::app
