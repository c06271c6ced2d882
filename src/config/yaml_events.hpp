// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "config/yaml_tree.hpp"

namespace ridgeline::config {

/// libyaml's events as a tree with byte offsets; keys are not checked for duplicates yet (parse_yaml does).
[[nodiscard]] base::Result<YamlTree> build_tree(std::string_view text, std::string_view file_name);

}  // namespace ridgeline::config
