// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "config/config_patch.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::config {

/// --space FILE.yaml: `parameters: {key: [values]}`, `fixed: {key: value}`, `exclude: [keys]`,
/// `constraints: ["a * b <= 8"]`, `only_listed: true`, `mapping: {key: path.in.config}`.
struct SpaceFile {
  search::SpaceRequest request;
  std::map<std::string, std::string> mapping;
};

/// Errors name line and column, and the nearest legal name.
[[nodiscard]] base::Result<SpaceFile> parse_space_file(std::string_view yaml, std::string_view file_name);

}  // namespace ridgeline::config
