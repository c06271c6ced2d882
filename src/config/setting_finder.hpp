// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/config_patch.hpp"
#include "config/yaml_tree.hpp"

namespace ridgeline::config {

/// Where a parameter stands in the file, or where it would be added.
struct SettingPlace {
  int value = -1;       ///< the value's node; -1: the key is not written there
  bool mapped = false;  ///< the user named this place
  int inherited = -1;   ///< not written there, but a merge key or an alias brings this value
  int alias = -1;       ///< the alias that the path runs through: nothing can be written behind it
  int home = -1;        ///< the mapping (or null) that an absent key goes into; -1: the document itself
  int document = 0;
  std::vector<std::string> sections;  ///< mappings to create below home, outermost first
  std::string name;                   ///< the key as written there
};

/// Finds parameters in one file, GPU profiles left aside. By mapping when there is one; else by name at any depth: of
/// several places the one in the section wins, else the only one among other parameters of the catalogue, else it is an
/// error that lists them.
class SettingFinder {
 public:
  SettingFinder(const YamlTree& tree, std::string_view file_name, const PatchOptions& options);

  /// The place of a key that the file sets or inherits; nullopt when it does neither.
  [[nodiscard]] base::Result<std::optional<SettingPlace>> find(const std::string& key) const;

  /// Where to write the key. An absent one goes where it is mapped to, else among other parameters (batch_size and
  /// parallel_sessions attract only each other: their names are common elsewhere), else into the section, else into a
  /// new section at the end. Errors: writing there would change what aliases elsewhere stand for.
  [[nodiscard]] base::Result<SettingPlace> place_for(const std::string& key) const;

 private:
  [[nodiscard]] base::Result<SettingPlace> follow(const std::string& key, std::string_view path) const;
  [[nodiscard]] base::Result<int> document_of(const std::string& key, std::string_view path) const;
  [[nodiscard]] std::vector<int> named(std::string_view key) const;
  [[nodiscard]] bool is_section(int node) const;
  [[nodiscard]] bool in_section(int value) const;
  [[nodiscard]] bool has_siblings(int value) const;
  [[nodiscard]] std::vector<int> without_overridden(std::vector<int> places) const;
  [[nodiscard]] base::Result<SettingPlace> home_of(const std::string& key) const;
  [[nodiscard]] base::Result<void> check_not_shared(const std::string& key, const SettingPlace& place) const;
  [[nodiscard]] int overriding_mapping(int value) const;
  [[nodiscard]] tl::unexpected<base::Error> ambiguous(const std::string& key, const std::vector<int>& places) const;

  const YamlTree& tree_;
  std::string_view file_;
  const PatchOptions& options_;
  std::vector<int> profiles_;  ///< mappings that are not looked into: settings of other GPUs
};

}  // namespace ridgeline::config
