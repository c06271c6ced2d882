// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/error.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// The results file, to be read only. Errors: not_found where there is none; neither file nor folder is made.
[[nodiscard]] base::Result<std::filesystem::path> existing_results(const Context& context);

}  // namespace ridgeline::app
