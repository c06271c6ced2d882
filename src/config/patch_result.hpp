// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "config/config_patch.hpp"
#include "config/patch_builder.hpp"

namespace ridgeline::config {

/// Ends the patch: the new text, and its edits by line with the source text that stood there `before`, by key (absent:
/// added). Errors: those of PatchBuilder::finish.
[[nodiscard]] base::Result<PatchResult> patch_result(PatchBuilder& builder,
                                                     const std::map<std::string, std::string>& before);

}  // namespace ridgeline::config
