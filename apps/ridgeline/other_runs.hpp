// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// For a run that is not among those of `ridgeline tune`: when it is one of another command, an error that says which
/// command shows it; else `error` as it is.
[[nodiscard]] base::Error name_other_command(base::Error error, const Context& context, const std::string& run);

}  // namespace ridgeline::app
