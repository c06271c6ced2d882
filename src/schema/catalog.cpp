// SPDX-License-Identifier: Apache-2.0
#include "schema/catalog.hpp"

#include <unordered_map>

#include "base/text.hpp"
#include "schema/suggestion.hpp"

namespace ridgeline::schema {

using base::ErrorCode;

const std::vector<ParamDef>& catalog() {
  static const std::vector<ParamDef> rows = [] {
    auto all = ort_session_params();
    for (auto group : {execution_params, cuda_provider_params, cuda_arena_params, tensorrt_provider_params,
                       openvino_provider_params, webgpu_provider_params, tensorrt_rtx_provider_params, torch_params})
      for (auto& row : group()) all.push_back(std::move(row));
    return all;
  }();
  return rows;
}

const ParamDef* find_param(std::string_view key) {
  // Searchers ask this for every setting of every configuration that they consider.
  static const auto rows_by_key = [] {
    std::unordered_map<std::string_view, const ParamDef*> rows;
    for (const auto& row : catalog()) rows.emplace(row.key, &row);
    return rows;
  }();
  const auto at = rows_by_key.find(key);
  return at == rows_by_key.end() ? nullptr : at->second;
}

base::Result<const ParamDef*> require_param(std::string_view key) {
  if (const auto* param = find_param(key)) return param;
  std::vector<std::string> keys;
  for (const auto& row : catalog()) keys.push_back(row.key);
  return base::fail(ErrorCode::invalid_argument, "unknown parameter \"{}\"; `ridgeline params` lists all {}", key,
                    keys.size())
      .hint("{}", suggest(key, keys));
}

base::Result<std::pair<std::string, Value>> parse_setting(std::string_view text) {
  const auto at = text.find('=');
  if (at == std::string_view::npos || at == 0)
    return base::fail(ErrorCode::invalid_argument, "\"{}\": expected key=value, such as intra_op_num_threads=4", text);
  const auto key = base::trim(text.substr(0, at));
  RL_TRY_ASSIGN(const auto* param, require_param(key));
  RL_TRY_ASSIGN(auto value, parse_value(*param, base::trim(text.substr(at + 1))));
  return std::pair{param->key, std::move(value)};
}

std::optional<Value> effective_value(const Configuration& configuration, const std::string& key) {
  if (const auto* value = configuration.find(key)) return *value;
  const auto* param = find_param(key);
  return param != nullptr ? param->default_value : std::nullopt;
}

base::Result<void> check_configuration(const Configuration& configuration) {
  for (const auto& [key, value] : configuration.values()) {
    RL_TRY_ASSIGN(const auto* param, require_param(key));
    RL_TRY(check_value(*param, value));
  }
  return {};
}

}  // namespace ridgeline::schema
