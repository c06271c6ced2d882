// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"

namespace ridgeline::app {

/// The library that records a process from within: RIDGELINE_INJECT_LIBRARY where that is set, else
/// libridgeline_inject.so in the folder lib next to that of the program. Errors: not_found.
[[nodiscard]] base::Result<std::string> find_inject_library();

}  // namespace ridgeline::app
