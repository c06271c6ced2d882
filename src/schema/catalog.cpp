// SPDX-License-Identifier: Apache-2.0
#include "schema/catalog.hpp"

#include "base/text.hpp"

namespace ridgeline::schema {

using base::ErrorCode;

const std::vector<ParamDef>& catalog() {
  static const std::vector<ParamDef> rows = [] {
    auto all = ort_session_params();
    for (auto group : {execution_params, cuda_provider_params, tensorrt_provider_params})
      for (auto& row : group()) all.push_back(std::move(row));
    return all;
  }();
  return rows;
}

const ParamDef* find_param(std::string_view key) {
  for (const auto& row : catalog())
    if (row.key == key) return &row;
  return nullptr;
}

base::Result<const ParamDef*> require_param(std::string_view key) {
  if (const auto* param = find_param(key)) return param;
  std::vector<std::string> keys;
  for (const auto& row : catalog()) keys.push_back(row.key);
  return base::fail(ErrorCode::invalid_argument, "unknown parameter \"{}\"{}; `ridgeline params` lists all {}", key,
                    base::did_you_mean(key, keys), keys.size());
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
