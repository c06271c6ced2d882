// SPDX-License-Identifier: Apache-2.0
#include "config/config_patch.hpp"

#include <algorithm>

#include "config/one_line.hpp"
#include "config/patch_result.hpp"
#include "config/setting_finder.hpp"
#include "config/setting_text.hpp"
#include "config/yaml_tree.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::config {
namespace {

using base::ErrorCode;
using base::fail;

base::Result<void> check_options(const PatchOptions& options) {
  for (const auto& [key, path] : options.mapping) RL_TRY(schema::require_param(key));
  const auto& section = options.section;
  if (section.empty() || section.front() == '.' || section.back() == '.' || section.find("..") != std::string::npos)
    return fail(ErrorCode::invalid_argument,
                "config section \"{}\" is not a path: expected keys joined by dots, such as a.b", section);
  return {};
}

std::string source_of(std::string_view yaml, const YamlNode& node) {
  const auto begin = node.kind == YamlKind::alias ? node.begin : node.content;
  auto text = yaml.substr(begin, node.end - begin);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return std::string(text);
}

base::Result<std::vector<FoundSetting>> read_all(std::string_view yaml, std::string_view file_name,
                                                 const PatchOptions& options, std::vector<UnreadSetting>* unread) {
  RL_TRY(check_options(options));
  RL_TRY_ASSIGN(const auto tree, parse_yaml(yaml, file_name));
  const SettingFinder finder(tree, file_name, options);
  std::vector<FoundSetting> settings;
  for (const auto& param : schema::catalog()) {
    RL_TRY_ASSIGN(const auto place, finder.find(param.key));
    if (!place) continue;
    const int node = place->value >= 0 ? place->value : place->inherited;
    const auto read = read_setting(param, tree, node, file_name);
    if (!read && unread != nullptr && !param.providers.empty()) {
      const auto& written = tree.at(tree.resolved(node));
      unread->push_back({param.key, written.kind == YamlKind::scalar ? written.value : "", one_line(read.error())});
      continue;
    }
    RL_TRY_ASSIGN(const auto value, read);
    if (value) settings.push_back({param.key, tree.path(node), tree.at(node).line, *value});
  }
  return settings;
}

base::Result<PatchResult> patch_all(std::string_view yaml, std::string_view file_name,
                                    const schema::Configuration& wanted, const PatchOptions& options) {
  RL_TRY(check_options(options));
  RL_TRY(schema::check_configuration(wanted));
  RL_TRY_ASSIGN(const auto tree, parse_yaml(yaml, file_name));
  const SettingFinder finder(tree, file_name, options);
  PatchBuilder builder(yaml, tree, file_name, options.provenance);
  std::map<std::string, std::string> before;
  for (const auto& param : schema::catalog()) {
    const auto* value = wanted.find(param.key);
    if (value == nullptr) continue;
    // A value that is there already needs no place to be written to, however the file brings it about.
    RL_TRY_ASSIGN(const auto found, finder.find(param.key));
    if (found) {
      const auto old = read_setting(param, tree, found->value >= 0 ? found->value : found->inherited, file_name);
      if (old && *old && **old == *value) continue;
    }
    RL_TRY_ASSIGN(const auto place, finder.place_for(param.key));
    if (place.value < 0) {
      builder.add(place, param, *value);
      continue;
    }
    const auto& node = tree.at(place.value);
    // A value that is merely out of range may be put right; one that another program fills in may not.
    if (node.kind != YamlKind::scalar && node.kind != YamlKind::alias)
      RL_TRY(read_setting(param, tree, place.value, file_name));
    if (!node.tag.empty() || node.value.find('$') != std::string::npos || node.value.find("{{") != std::string::npos)
      RL_TRY(read_setting(param, tree, place.value, file_name));
    before.emplace(param.key, source_of(yaml, node));
    RL_TRY(builder.change(place.value, param, *value));
  }
  return patch_result(builder, before);
}

}  // namespace

base::Result<std::vector<FoundSetting>> read_settings(std::string_view yaml, std::string_view file_name,
                                                      const PatchOptions& options, std::vector<UnreadSetting>* unread) {
  return read_all(yaml, file_name, options, unread).map_error(one_line);
}

base::Result<PatchResult> patch_settings(std::string_view yaml, std::string_view file_name,
                                         const schema::Configuration& wanted, const PatchOptions& options) {
  return patch_all(yaml, file_name, wanted, options).map_error(one_line);
}

}  // namespace ridgeline::config
