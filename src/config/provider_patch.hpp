// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/config_patch.hpp"
#include "schema/execution_provider.hpp"

namespace ridgeline::config {

/// An execution provider that a file names.
struct FoundProvider {
  std::string key;   ///< "provider" or "execution_provider"
  int line = 0;      ///< 1-based
  std::string name;  ///< as spelled there
};

/// The value that patch_provider would change; nullopt where the file names none, or several places do. Errors:
/// malformed YAML.
[[nodiscard]] base::Result<std::optional<FoundProvider>> find_provider_name(std::string_view yaml,
                                                                            std::string_view file_name);

/// The provider's name, in the way of spelling of `like`: "cuda" or "CUDAExecutionProvider".
[[nodiscard]] std::string spelled_like(std::string_view like, const schema::ExecutionProvider& provider);

/// Pure: the file with `wanted` where it names the execution provider: the value of `provider` or `execution_provider`
/// at the only place where that is a provider, spelled as there ("cpu" or "CPUExecutionProvider"). No edits where there
/// is no such value. Errors: malformed YAML; invalid_argument, with the line, where the value is not ours to change (an
/// anchor that is used elsewhere) or several places name a provider.
[[nodiscard]] base::Result<PatchResult> patch_provider(std::string_view yaml, std::string_view file_name,
                                                       const schema::ExecutionProvider& wanted);

}  // namespace ridgeline::config
