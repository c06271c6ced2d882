// SPDX-License-Identifier: Apache-2.0
#include "campaign/sweep/sweep_patch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "config/key_place.hpp"
#include "config/one_line.hpp"
#include "config/patch_result.hpp"
#include "config/setting_finder.hpp"
#include "config/setting_text.hpp"
#include "config/yaml_tree.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

struct Typed {
  schema::ParamDef param;
  schema::Value value;
};

Typed typed(const std::string& name, const std::string& text) {
  Typed out;
  out.param.key = name;
  out.param.type = schema::ParamType::text;
  out.value = text;
  if (const auto whole = base::parse_integer(text, name)) {
    out.param.type = schema::ParamType::integer;
    out.value = *whole;
  } else if (const auto number = base::parse_number(text, name)) {
    out.param.type = schema::ParamType::number;
    out.value = *number;
  } else if (text == "true" || text == "false") {
    out.param.type = schema::ParamType::boolean;
    out.value = text == "true";
  }
  return out;
}

std::vector<std::string> without_place(const config::YamlTree& tree, const std::vector<SweepSetting>& settings) {
  std::vector<std::string> out;
  for (const auto& setting : settings)
    if (setting.path.empty() && config::KeyPlace(tree, setting.name).absent()) out.push_back(setting.name);
  return out;
}

Result<std::string> path_of(const config::YamlTree& tree, std::string_view file_name, const SweepSetting& setting) {
  if (!setting.path.empty()) return setting.path;
  const config::KeyPlace place(tree, setting.name);
  if (place.value() >= 0) return place.path();
  return fail(ErrorCode::invalid_argument, "{}: {} stands in several places: {}", file_name, setting.name, place.list())
      .hint("say which with --apply-to {}=PATH", setting.name);
}

Result<config::PatchResult> patch_all(std::string_view yaml, std::string_view file_name,
                                      std::vector<SweepSetting> settings) {
  RL_TRY_ASSIGN(const auto tree, config::parse_yaml(yaml, file_name));
  const auto absent = without_place(tree, settings);
  if (!settings.empty() && absent.size() == settings.size())
    return fail(ErrorCode::invalid_argument, "{}: nothing can be written, the file has no {}", file_name,
                fmt::join(absent, ", no "))
        .hint("add the name{}, or say where with --apply-to {}=PATH", absent.size() == 1 ? "" : "s", absent.front());
  settings.erase(std::remove_if(settings.begin(), settings.end(),
                                [&](const auto& setting) {
                                  return std::find(absent.begin(), absent.end(), setting.name) != absent.end();
                                }),
                 settings.end());
  config::PatchOptions options;
  for (const auto& setting : settings) {
    RL_TRY_ASSIGN(options.mapping[setting.name], path_of(tree, file_name, setting));
  }
  const config::SettingFinder finder(tree, file_name, options);
  config::PatchBuilder builder(yaml, tree, file_name, "");
  std::map<std::string, std::string> before;
  for (const auto& setting : settings) {
    const auto [param, value] = typed(setting.name, setting.value);
    RL_TRY_ASSIGN(const auto found, finder.find(setting.name));
    if (found && found->value >= 0 && !tree.at(found->value).users.empty())
      return fail(ErrorCode::invalid_argument,
                  "{}:{}: {} carries the anchor &{} that line {} uses too, so that a change would show there",
                  file_name, tree.at(found->value).line, setting.name, tree.at(found->value).anchor,
                  tree.at(tree.at(found->value).users.front()).line)
          .hint("write the value out in both places, or name another place with --apply-to {}=PATH", setting.name);
    RL_TRY_ASSIGN(const auto place, finder.place_for(setting.name));
    if (place.value < 0) {
      builder.add(place, param, value);
      continue;
    }
    const auto& node = tree.at(place.value);
    if (node.kind == config::YamlKind::sequence || node.kind == config::YamlKind::mapping)
      return fail(ErrorCode::invalid_argument, "{}:{}: {} holds a list or section, expected a single value", file_name,
                  node.line, setting.name);
    const auto old = config::read_setting(param, tree, place.value, file_name);
    if (old && *old && **old == value) continue;
    // A value that another program fills in is not ours to replace.
    if (!node.tag.empty() || node.value.find('$') != std::string::npos || node.value.find("{{") != std::string::npos)
      return fail(ErrorCode::invalid_argument, "{}:{}: {} is {}, which another program fills in", file_name, node.line,
                  setting.name, node.value)
          .hint("name another place with --apply-to {}=PATH", setting.name);
    auto source = yaml.substr(node.content, node.end - node.content);
    before[setting.name] = std::string(base::trim(source));
    RL_TRY(builder.change(place.value, param, value));
  }
  return config::patch_result(builder, before);
}

}  // namespace

base::Result<void> check_paths(const std::map<std::string, std::string>& paths,
                               const std::vector<schema::SweepParam>& parameters, std::string_view whose) {
  std::vector<std::string> names;
  for (const auto& param : parameters) names.push_back(param.name);
  for (const auto& [name, path] : paths)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return base::fail(ErrorCode::invalid_argument, "--apply-to {}={}: {} is no parameter of {}", name, path, name,
                        whose)
          .hint("{}", base::did_you_mean(name, names));
  return {};
}

std::vector<SweepSetting> settings_of(const schema::SweepPoint& point,
                                      const std::vector<schema::SweepParam>& parameters,
                                      const std::map<std::string, std::string>& paths) {
  std::vector<SweepSetting> out;
  for (const auto& param : parameters) {
    const auto value = point.find(param.name);
    if (value == point.end()) continue;
    const auto path = paths.find(param.name);
    out.push_back({param.name, path == paths.end() ? "" : path->second, value->second});
  }
  return out;
}

Result<std::map<std::string, SweepCurrent>> read_sweep_values(std::string_view yaml, std::string_view file_name,
                                                              const std::vector<schema::SweepParam>& parameters,
                                                              const std::map<std::string, std::string>& paths) {
  const auto tree = config::parse_yaml(yaml, file_name);
  if (!tree) return tl::unexpected(config::one_line(tree.error()));
  std::map<std::string, SweepCurrent> out;
  for (const auto& param : parameters) {
    const auto path = paths.find(param.name);
    config::PatchOptions options;
    if (path != paths.end())
      options.mapping[param.name] = path->second;
    else if (const config::KeyPlace place(*tree, param.name); place.value() >= 0)
      options.mapping[param.name] = place.path();
    else
      continue;
    const auto found = config::SettingFinder(*tree, file_name, options).find(param.name);
    if (!found || !*found) continue;
    const int value = (*found)->value >= 0 ? (*found)->value : (*found)->inherited;
    const auto& node = tree->at(tree->resolved(value));
    if (node.kind == config::YamlKind::scalar && !config::is_null(node))
      out[param.name] = {node.value, tree->at(value).line};
  }
  return out;
}

bool same_sweep_value(const std::string& a, const std::string& b) {
  return a == b || typed("a", a).value == typed("b", b).value;
}

Result<std::vector<std::string>> names_without_place(std::string_view yaml, std::string_view file_name,
                                                     const std::vector<SweepSetting>& settings) {
  const auto tree = config::parse_yaml(yaml, file_name);
  if (!tree) return tl::unexpected(config::one_line(tree.error()));
  return without_place(*tree, settings);
}

Result<config::PatchResult> patch_sweep_settings(std::string_view yaml, std::string_view file_name,
                                                 const std::vector<SweepSetting>& settings) {
  return patch_all(yaml, file_name, settings).map_error(config::one_line);
}

}  // namespace ridgeline::campaign
