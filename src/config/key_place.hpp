// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/yaml_tree.hpp"

namespace ridgeline::config {

/// Where a key stands in a file of the user's own making.
class KeyPlace {
 public:
  /// At the first of the `usual` dotted paths that the file has, else at the key's only place.
  KeyPlace(const YamlTree& tree, std::string_view key, const std::vector<std::string>& usual = {});

  /// The file has the key nowhere.
  [[nodiscard]] bool absent() const noexcept { return places_.empty(); }
  /// The value's node; -1 where the key is absent, or in several places of which none is usual.
  [[nodiscard]] int value() const noexcept { return value_; }
  /// The value's path, which says the document where there are several.
  [[nodiscard]] std::string path() const;
  /// All places: "data.batch_size (line 3), batch_size (line 9)".
  [[nodiscard]] std::string list() const;

 private:
  const YamlTree& tree_;
  std::vector<int> places_;
  int value_ = -1;
};

}  // namespace ridgeline::config
