// SPDX-License-Identifier: Apache-2.0
#include "config/provider_patch.hpp"

#include <vector>

#include "base/text.hpp"
#include "config/patch_builder.hpp"
#include "config/patch_result.hpp"
#include "config/yaml_tree.hpp"

namespace ridgeline::config {
namespace {

using base::ErrorCode;

/// A pair of a mapping whose value names a provider.
struct Named {
  std::string key;
  int value = -1;
};

std::vector<Named> providers_in(const YamlTree& tree) {
  std::vector<Named> found;
  for (std::size_t at = 0; at < tree.nodes.size(); ++at) {
    const auto& mapping = tree.nodes[at];
    if (mapping.kind != YamlKind::mapping) continue;
    for (std::size_t i = 0; i + 1 < mapping.children.size(); i += 2) {
      const auto& key = tree.at(mapping.children[i]);
      const auto& value = tree.at(mapping.children[i + 1]);
      if (key.kind != YamlKind::scalar || value.kind != YamlKind::scalar) continue;
      if (key.value != "provider" && key.value != "execution_provider") continue;
      if (schema::find_provider(value.value) != nullptr || schema::find_provider_named(value.value) != nullptr)
        found.push_back({key.value, mapping.children[i + 1]});
    }
  }
  return found;
}

}  // namespace

base::Result<std::optional<FoundProvider>> find_provider_name(std::string_view yaml, std::string_view file_name) {
  RL_TRY_ASSIGN(const auto tree, parse_yaml(yaml, file_name));
  const auto found = providers_in(tree);
  if (found.size() != 1) return std::optional<FoundProvider>();
  const auto& node = tree.at(found.front().value);
  return std::optional<FoundProvider>({found.front().key, node.line, node.value});
}

std::string spelled_like(std::string_view like, const schema::ExecutionProvider& provider) {
  const bool by_id = schema::find_provider(like) != nullptr;
  return by_id || provider.library_name.empty() ? provider.id : provider.library_name;
}

base::Result<PatchResult> patch_provider(std::string_view yaml, std::string_view file_name,
                                         const schema::ExecutionProvider& wanted) {
  RL_TRY_ASSIGN(const auto tree, parse_yaml(yaml, file_name));
  const auto found = providers_in(tree);
  if (found.empty()) return PatchResult{std::string(yaml), {}};
  const auto& first = found.front();
  const auto& node = tree.at(first.value);
  if (found.size() > 1)
    return base::fail(ErrorCode::invalid_argument, "{}: a provider stands in lines {} and {}", file_name, node.line,
                      tree.at(found[1].value).line)
        .hint("change the one that your program reads to {} yourself", wanted.id);
  if (!node.users.empty())
    return base::fail(ErrorCode::invalid_argument, "{}:{}: {} carries the anchor &{} that line {} uses too", file_name,
                      node.line, first.key, node.anchor, tree.at(node.users.front()).line)
        .hint("write the value out in both places");
  const auto name = spelled_like(node.value, wanted);
  if (node.value == name) return PatchResult{std::string(yaml), {}};
  PatchBuilder builder(yaml, tree, file_name, "");
  schema::ParamDef param;
  param.key = first.key;
  param.type = schema::ParamType::text;
  const std::map<std::string, std::string> before{
      {first.key, std::string(base::trim(yaml.substr(node.content, node.end - node.content)))}};
  RL_TRY(builder.change(first.value, param, schema::Value(name)));
  return patch_result(builder, before);
}

}  // namespace ridgeline::config
