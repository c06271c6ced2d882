// SPDX-License-Identifier: Apache-2.0
#include "config/stray_stream_keys.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/stream_section.hpp"
#include "config/yaml_tree.hpp"
#include "schema/suggestion.hpp"

namespace ridgeline::config {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kSection = "stream";

/// Whether no section of something else is likely to have the key.
bool is_streams_own(const std::string& name) {
  constexpr std::array<std::string_view, 6> kOwn{
      "inference_scale", "inference_queue_size", "result_queue_size", "frame_timeout_ms", "slo_ms", "score_threshold"};
  return std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end();
}

class StrayKeys {
 public:
  explicit StrayKeys(const YamlTree& tree) : tree_(tree), known_(stream_setting_names()) {}

  [[nodiscard]] Names find() const {
    if (tree_.documents.empty()) return {};
    const int root = tree_.resolved(tree_.documents.front().root);
    if (tree_.at(root).kind != YamlKind::mapping) return {};
    auto out = known_in(root);
    const int section = tree_.find(root, kSection);
    if (section >= 0 && !is_null(tree_.at(tree_.resolved(section)))) return out;
    const auto& children = tree_.at(root).children;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
      const auto& parent = tree_.at(children[i]).value;
      const int node = tree_.resolved(children[i + 1]);
      if (tree_.at(node).kind != YamlKind::mapping || holds_settings(parent)) continue;
      const auto names = known_in(node);
      if (schema::suggestions(parent, {std::string(kSection)}).empty() &&
          std::none_of(names.begin(), names.end(), is_streams_own))
        continue;
      for (const auto& name : names) out.push_back(fmt::format("{}.{}", parent, name));
    }
    return out;
  }

 private:
  [[nodiscard]] bool is_setting(const std::string& name) const {
    return std::any_of(known_.begin(), known_.end(), [&](const auto& one) { return one == name; });
  }
  /// "preprocess" of "preprocess.mean".
  [[nodiscard]] bool holds_settings(const std::string& name) const {
    return std::any_of(known_.begin(), known_.end(), [&](const auto& one) { return one.starts_with(name + "."); });
  }

  [[nodiscard]] Names known_in(int mapping) const {
    Names out;
    const auto& children = tree_.at(mapping).children;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
      const auto& name = tree_.at(children[i]).value;
      const bool is_mapping = tree_.at(tree_.resolved(children[i + 1])).kind == YamlKind::mapping;
      if (is_mapping ? holds_settings(name) : is_setting(name)) out.push_back(name);
    }
    return out;
  }

  const YamlTree& tree_;
  Names known_;
};

}  // namespace

base::Result<Names> stray_stream_keys(std::string_view yaml, std::string_view file_name) {
  RL_TRY_ASSIGN(const auto tree, parse_yaml(yaml, file_name));
  return StrayKeys(tree).find();
}

}  // namespace ridgeline::config
