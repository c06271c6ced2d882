// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"

namespace ridgeline::app {

/// That a program which is to be run is there and may be executed. Errors: not_found.
[[nodiscard]] base::Result<void> check_program(const std::string& name);

}  // namespace ridgeline::app
