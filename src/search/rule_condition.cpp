// SPDX-License-Identifier: Apache-2.0
#include "search/rule_condition.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "search/model_facts.hpp"

namespace ridgeline::search {
namespace {

std::array<std::int64_t, 3> version_numbers(std::string_view text) {
  std::array<std::int64_t, 3> numbers{};
  std::size_t at = 0;
  for (const auto& part : base::split(text, '.')) {
    if (at == numbers.size()) break;
    // "0-dev" counts as 0: a preview of 1.26.0 has 1.26.0's options.
    const auto digits = part.substr(0, part.find_first_not_of("0123456789"));
    numbers[at++] = base::parse_integer(digits, "version").value_or(0);
  }
  return numbers;
}

std::string runtime_version(const SpaceInput& input) {
  return is_onnxruntime(input) ? input.runtime.version : std::string();
}

std::string cudnn_version(const SpaceInput& input) {
  const auto libraries = input.runtime.provider_libraries.find(input.provider);
  if (libraries == input.runtime.provider_libraries.end()) return {};
  const auto version = libraries->second.find("libcudnn.so");
  return version == libraries->second.end() ? std::string() : version->second;
}

std::string compute_capability(const SpaceInput& input) {
  return input.environment.gpus.empty() ? std::string() : input.environment.gpus.front().compute_capability;
}

std::string filled_in(std::string_view reason, const SpaceInput& input) {
  if (reason.find('{') == std::string_view::npos) return std::string(reason);
  return fmt::format(fmt::runtime(reason), fmt::arg("cudnn", cudnn_version(input)),
                     fmt::arg("nodes", input.model.nodes));
}

}  // namespace

bool in_range(std::string_view version, const VersionRange& range) {
  if (version.empty()) return range.before.empty();
  const auto numbers = version_numbers(version);
  return (range.since.empty() || numbers >= version_numbers(range.since)) &&
         (range.before.empty() || numbers < version_numbers(range.before));
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

std::optional<std::string> first_reason(std::span<const PruningRule> rules, std::string_view key,
                                        std::optional<std::string_view> value, const SpaceInput& input) {
  const auto at = std::find_if(rules.begin(), rules.end(), [&](const PruningRule& rule) {
    return rule.value == value && std::find(rule.keys.begin(), rule.keys.end(), key) != rule.keys.end() &&
           holds(rule.where, input);
  });
  if (at == rules.end()) return std::nullopt;
  return filled_in(at->reason, input);
}

}  // namespace ridgeline::search
