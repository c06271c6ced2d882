// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "schema/param_def.hpp"

// What the files of rows share.
namespace ridgeline::schema {

[[nodiscard]] inline ParamDef since(std::string version, ParamDef row) {
  row.since = std::move(version);
  return row;
}

/// Tried by --set and --space only.
[[nodiscard]] inline ParamDef on_request(ParamDef row) {
  row.searched = false;
  return row;
}

[[nodiscard]] inline ParamDef provider_row(std::string key, std::string target, std::vector<std::string> providers,
                                           ParamType type, std::optional<Value> default_value) {
  ParamDef row;
  row.key = std::move(key);
  row.target = std::move(target);
  row.scope = ParamScope::provider_option;
  row.type = type;
  row.providers = std::move(providers);
  if (type == ParamType::boolean) row.choices = {false, true};
  row.default_value = std::move(default_value);
  return row;
}

[[nodiscard]] inline ParamDef described(ParamDef row, std::string summary, std::string when, std::string hazard) {
  row.summary = std::move(summary);
  row.when = std::move(when);
  row.hazard = std::move(hazard);
  return row;
}

[[nodiscard]] inline ParamDef one_of(std::vector<Value> choices, ParamDef row) {
  row.choices = std::move(choices);
  return row;
}

}  // namespace ridgeline::schema
