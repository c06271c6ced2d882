// SPDX-License-Identifier: Apache-2.0
#include "search/rule_condition.hpp"

#include <algorithm>

#include "search/model_facts.hpp"

namespace ridgeline::search {
namespace {

std::string runtime_version(const SpaceInput& input) {
  return is_onnxruntime(input) ? input.runtime.version : std::string();
}

std::string compute_capability(const SpaceInput& input) {
  return input.environment.gpus.empty() ? std::string() : input.environment.gpus.front().compute_capability;
}

}  // namespace

std::string cudnn_version(const SpaceInput& input) {
  const auto libraries = input.runtime.provider_libraries.find(input.provider);
  if (libraries == input.runtime.provider_libraries.end()) return {};
  const auto version = libraries->second.find("libcudnn.so");
  return version == libraries->second.end() ? std::string() : version->second;
}

bool holds(const RuleCondition& condition, const SpaceInput& input) {
  const auto& provider = schema::provider_of(input.provider);
  return (!condition.device || provider.device == *condition.device) &&
         (condition.provider_has == nullptr || provider.*condition.provider_has) &&
         (condition.provider_lacks == nullptr || !(provider.*condition.provider_lacks)) &&
         in_range(runtime_version(input), condition.runtime) && in_range(cudnn_version(input), condition.cudnn) &&
         in_range(compute_capability(input), condition.compute_capability) &&
         (condition.model == nullptr || (knows_model(input) && condition.model(input.model))) &&
         (condition.about == nullptr || condition.about(input));
}

std::optional<schema::Message> first_reason(std::span<const PruningRule> rules, std::string_view key,
                                            std::optional<std::string_view> value, const SpaceInput& input) {
  const auto at = std::find_if(rules.begin(), rules.end(), [&](const PruningRule& rule) {
    return rule.value == value && std::find(rule.keys.begin(), rule.keys.end(), key) != rule.keys.end() &&
           holds(rule.where, input);
  });
  if (at == rules.end()) return std::nullopt;
  return at->reason_of != nullptr ? at->reason_of(input) : at->reason();
}

}  // namespace ridgeline::search
