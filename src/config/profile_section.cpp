// SPDX-License-Identifier: Apache-2.0
#include "config/profile_section.hpp"

#include "schema/catalog.hpp"

namespace ridgeline::config {
namespace {

/// The first node in a profile that does not belong there, or -1.
int stranger_in(const YamlTree& tree, int profile) {
  const auto& mapping = tree.at(profile);
  if (mapping.kind != YamlKind::mapping || !mapping.users.empty()) return profile;
  for (std::size_t i = 0; i + 1 < mapping.children.size(); i += 2) {
    const auto& key = tree.at(mapping.children[i]);
    const auto& value = tree.at(mapping.children[i + 1]);
    const bool fits = key.kind == YamlKind::scalar && schema::find_param(key.value) != nullptr && value.users.empty() &&
                      value.kind == YamlKind::scalar;
    if (!fits) return mapping.children[i];
  }
  return -1;
}

}  // namespace

ProfileSection find_profiles(const YamlTree& tree) {
  ProfileSection section;
  for (const auto& document : tree.documents) {
    if (document.root < 0 || tree.at(document.root).kind != YamlKind::mapping) continue;
    section.node = tree.find(document.root, kProfiles);
    if (section.node >= 0) break;
  }
  if (section.node < 0 || is_null(tree.at(section.node))) return section;
  const auto& node = tree.at(section.node);
  if (node.kind != YamlKind::mapping || !node.users.empty()) {
    section.stranger = section.node;
    return section;
  }
  for (std::size_t i = 0; i + 1 < node.children.size() && section.stranger < 0; i += 2) {
    const auto& name = tree.at(node.children[i]);
    section.stranger = name.kind == YamlKind::scalar ? stranger_in(tree, node.children[i + 1]) : node.children[i];
    if (section.stranger < 0) section.profiles.emplace_back(name.value, node.children[i + 1]);
  }
  if (section.stranger >= 0) section.profiles.clear();
  return section;
}

}  // namespace ridgeline::config
