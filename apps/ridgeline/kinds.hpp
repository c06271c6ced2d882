// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "run/registry.hpp"

namespace ridgeline::app {

/// Every kind of run that a subcommand makes.
[[nodiscard]] run::Registry known_kinds();

}  // namespace ridgeline::app
