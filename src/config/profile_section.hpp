// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/yaml_tree.hpp"

namespace ridgeline::config {

inline constexpr const char* kProfiles = "profiles";

/// The top-level "profiles:" of a file. It is ours when it holds nothing but mappings of parameters that no alias uses;
/// other programs have sections of that name too.
struct ProfileSection {
  int node = -1;                                      ///< the section's value; -1: there is none
  int stranger = -1;                                  ///< the first node that no GPU profile would hold; -1: it is ours
  std::vector<std::pair<std::string, int>> profiles;  ///< name and mapping, when it is ours

  [[nodiscard]] bool ours() const noexcept { return node >= 0 && stranger < 0; }
};

[[nodiscard]] ProfileSection find_profiles(const YamlTree& tree);

}  // namespace ridgeline::config
