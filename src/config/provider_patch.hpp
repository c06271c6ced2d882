// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "config/config_patch.hpp"
#include "schema/execution_provider.hpp"

namespace ridgeline::config {

/// Pure: the file with `wanted` where it names the execution provider: the value of `provider` or `execution_provider`
/// at the only place where that is a provider, spelled as there ("cpu" or "CPUExecutionProvider"). No edits where there
/// is no such value. Errors: malformed YAML; invalid_argument, with the line, where the value is not ours to change (an
/// anchor that is used elsewhere) or several places name a provider.
[[nodiscard]] base::Result<PatchResult> patch_provider(std::string_view yaml, std::string_view file_name,
                                                       const schema::ExecutionProvider& wanted);

}  // namespace ridgeline::config
