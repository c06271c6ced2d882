// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"

namespace ridgeline::app {

/// The folder that holds the packages that run in the user's Python: RIDGELINE_PYTHON_FOLDER, beside the
/// installed program, else that of the source tree this program was built from. Errors: not_found.
[[nodiscard]] base::Result<std::string> python_packages();

}  // namespace ridgeline::app
