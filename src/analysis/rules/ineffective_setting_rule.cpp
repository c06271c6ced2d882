// SPDX-License-Identifier: Apache-2.0
// Settings that the runtime reads back otherwise than they were set.
#include <map>

#include <fmt/format.h>

#include "analysis/findings.hpp"
#include "analysis/messages.hpp"
#include "analysis/rules/rule.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::analysis {

bool took_effect(const std::string& key, const schema::Value& wanted, const std::string& effective) {
  if (wanted.to_text() == effective) return true;
  // Session config entries hold flags as 1 and 0.
  if (wanted.is_bool()) return effective == (wanted.as_bool() ? "1" : "0");
  const auto* param = schema::find_param(key);
  // 0 asks the runtime to choose; whatever it chose is what was asked for.
  if (param != nullptr && param->default_value == wanted && wanted == schema::Value(0)) return true;
  if (param == nullptr) return false;
  const auto parsed = schema::parse_value(*param, effective);
  return parsed && *parsed == wanted;
}

std::vector<Finding> ineffective_setting_rule(const Evidence& evidence) {
  std::map<std::pair<std::string, std::string>, std::vector<int>> ignored;
  for (const auto& ranked : evidence.ranking)
    for (const auto& [key, effective] : ranked.outcome->measurement->effective_settings) {
      const auto* wanted = ranked.trial->configuration.find(key);
      if (wanted == nullptr || took_effect(key, *wanted, effective)) continue;
      ignored[{fmt::format("{}={}", key, wanted->to_text()), effective}].push_back(ranked.trial->id);
    }
  std::vector<Finding> findings;
  for (const auto& [what, ids] : ignored)
    findings.push_back({FindingKind::quality,
                        messages::did_not_take_effect({.setting = what.first, .used = what.second}),
                        messages::read_back(ids), messages::drop_setting()});
  return findings;
}

}  // namespace ridgeline::analysis
