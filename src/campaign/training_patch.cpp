// SPDX-License-Identifier: Apache-2.0
// The part of campaign/bench_config.hpp that reads and changes the user's own training file.
#include <algorithm>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "campaign/bench_config.hpp"
#include "campaign/config_patch/file_swap.hpp"
#include "campaign/config_patch/one_line.hpp"
#include "campaign/config_patch/patch_result.hpp"
#include "campaign/config_patch/setting_finder.hpp"
#include "campaign/config_patch/setting_text.hpp"
#include "campaign/config_patch/yaml_tree.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

struct Wanted {
  schema::ParamDef param;
  std::string path;  ///< where it goes when the file has it nowhere
  schema::Value value;
};

schema::ParamDef param(const char* key, schema::ParamType type) {
  schema::ParamDef def;
  def.key = key;
  def.type = type;
  return def;
}

std::vector<Wanted> wanted_of(const schema::TrainingSettings& settings) {
  using schema::ParamType;
  return {{param("batch_size", ParamType::integer), "data.batch_size", settings.batch},
          {param("num_workers", ParamType::integer), "data.num_workers", settings.workers},
          {param("pin_memory", ParamType::boolean), "data.pin_memory", settings.pin_memory},
          {param("use_amp", ParamType::boolean), "training.use_amp", settings.amp != schema::AmpMode::off}};
}

/// Paths of every value that has this key.
std::vector<int> places_of(const YamlTree& tree, std::string_view key) {
  std::vector<int> out;
  for (const auto& node : tree.nodes) {
    if (node.kind != YamlKind::mapping) continue;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2)
      if (tree.at(node.children[i]).kind == YamlKind::scalar && tree.at(node.children[i]).value == key)
        out.push_back(node.children[i + 1]);
  }
  return out;
}

/// The path to change: the usual one when the file has it, else the only place of that name, else the usual one anew.
Result<std::string> path_of(const YamlTree& tree, std::string_view file_name, const std::string& key,
                            const std::string& usual) {
  const auto places = places_of(tree, key);
  for (const int place : places)
    if (tree.path(place) == usual) return usual;
  if (places.empty()) return usual;
  if (places.size() == 1) return tree.path(places.front());
  std::vector<std::string> lines;
  for (const int place : places) lines.push_back(fmt::format("{} (line {})", tree.path(place), tree.at(place).line));
  return fail(ErrorCode::invalid_argument, "{}: {} stands in several places: {}; put it under {} or keep one",
              file_name, key, fmt::join(lines, ", "), usual);
}

Result<PatchResult> patch_all(std::string_view yaml, std::string_view file_name,
                              const schema::TrainingSettings& settings) {
  RL_TRY_ASSIGN(const auto tree, parse_yaml(yaml, file_name));
  const auto wanted = wanted_of(settings);
  PatchOptions options;
  options.section = "data";
  for (const auto& one : wanted) {
    RL_TRY_ASSIGN(options.mapping[one.param.key], path_of(tree, file_name, one.param.key, one.path));
  }
  const SettingFinder finder(tree, file_name, options);
  PatchBuilder builder(yaml, tree, file_name, "");
  std::map<std::string, std::string> before;
  for (const auto& one : wanted) {
    RL_TRY_ASSIGN(const auto found, finder.find(one.param.key));
    if (found) {
      const auto old = read_setting(one.param, tree, found->value >= 0 ? found->value : found->inherited, file_name);
      if (old && *old && **old == one.value) continue;
    }
    RL_TRY_ASSIGN(const auto place, finder.place_for(one.param.key));
    if (place.value < 0) {
      builder.add(place, one.param, one.value);
      continue;
    }
    // A value that another program fills in, or a collection, is not ours to replace.
    const auto& node = tree.at(place.value);
    if (!is_null(node)) RL_TRY(read_setting(one.param, tree, place.value, file_name));
    const auto begin = node.content;
    before[one.param.key] = std::string(base::trim(yaml.substr(begin, node.end - begin)));
    RL_TRY(builder.change(place.value, one.param, one.value));
  }
  return patch_result(builder, before);
}

/// The number at the key's only place, or at training.KEY or data.KEY among several.
std::optional<double> number_at(const YamlTree& tree, const std::string& key) {
  const auto places = places_of(tree, key);
  for (const int place : places) {
    const auto path = tree.path(place);
    if (places.size() > 1 && path != "training." + key && path != "data." + key) continue;
    if (const auto value = base::parse_number(tree.at(tree.resolved(place)).value, key)) return *value;
  }
  return std::nullopt;
}

}  // namespace

Result<TrainingConfig> read_training_config(std::string_view yaml, std::string_view file_name) {
  const auto tree = parse_yaml(yaml, file_name);
  if (!tree) return tl::unexpected(one_line(tree.error()));
  const auto whole = [&](const char* key) -> std::optional<std::int64_t> {
    const auto value = number_at(*tree, key);
    if (!value || *value < 1 || *value > 1e9) return std::nullopt;
    return static_cast<std::int64_t>(*value);
  };
  return TrainingConfig{whole("batch_size"), whole("gradient_accumulation_steps"), number_at(*tree, "learning_rate")};
}

Result<PatchResult> patch_training_settings(std::string_view yaml, std::string_view file_name,
                                            const schema::TrainingSettings& settings) {
  return patch_all(yaml, file_name, settings).map_error(one_line);
}

Result<AppliedPatch> apply_training_settings(const std::filesystem::path& file,
                                             const schema::TrainingSettings& settings, std::string_view utc) {
  RL_TRY(check_patchable(file));
  const auto target = link_target(file);
  RL_TRY_ASSIGN(const auto before, base::read_file(target));
  RL_TRY_ASSIGN(auto patch, patch_training_settings(before, file.string(), settings));
  if (patch.edits.empty()) return AppliedPatch{std::move(patch), {}};
  RL_TRY_ASSIGN(auto backup, swap_with_backup(target, before, patch.text, utc));
  return AppliedPatch{std::move(patch), std::move(backup)};
}

}  // namespace ridgeline::campaign
