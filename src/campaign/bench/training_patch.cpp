// SPDX-License-Identifier: Apache-2.0
// The part of campaign/bench_config.hpp that reads and changes the user's own training file.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "campaign/bench/bench_config.hpp"
#include "config/file_swap.hpp"
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

std::vector<Wanted> wanted_of(const schema::TrainingSettings& settings, const analysis::VariedSettings& varied) {
  using schema::ParamType;
  std::vector<Wanted> out;
  const auto add = [&](bool wanted, schema::ParamDef def, const char* path, schema::Value value) {
    if (wanted) out.push_back({std::move(def), path, std::move(value)});
  };
  add(varied.batch, param("batch_size", ParamType::integer), "data.batch_size", settings.batch);
  add(varied.workers, param("num_workers", ParamType::integer), "data.num_workers", settings.workers);
  add(varied.pin_memory, param("pin_memory", ParamType::boolean), "data.pin_memory", settings.pin_memory);
  add(varied.amp, param("use_amp", ParamType::boolean), "training.use_amp", settings.amp != schema::AmpMode::off);
  return out;
}

base::Fault several_places(std::string_view file_name, const std::string& key, const config::KeyPlace& place,
                           const std::string& usual) {
  return fail(ErrorCode::invalid_argument, "{}: {} stands in several places: {}", file_name, key, place.list())
      .hint("put it under {} or keep one", usual);
}

/// Whether a key that the file lacks can be added under the usual path.
Result<void> check_home(const config::YamlTree& tree, std::string_view file_name, const std::string& key,
                        const std::string& usual) {
  std::vector<int> roots;
  for (const auto& document : tree.documents)
    if (!config::is_null(tree.at(document.root))) roots.push_back(tree.resolved(document.root));
  if (roots.size() > 1)
    return fail(ErrorCode::invalid_argument, "{}: {} stands in none of the {} documents", file_name, key, roots.size())
        .hint("add it to the one that your training reads");
  if (roots.empty() || tree.at(roots.front()).kind != config::YamlKind::mapping) return {};
  const auto section = usual.substr(0, usual.find('.'));
  const int home = tree.find(roots.front(), section);
  if (home >= 0 && tree.at(home).kind == config::YamlKind::alias)
    return fail(ErrorCode::invalid_argument,
                "{}:{}: {} would go into {}, which is the alias *{}, so that it would show elsewhere too", file_name,
                tree.at(home).line, key, section, tree.at(home).value)
        .hint("add {} there yourself", key);
  return {};
}

/// A value that is not ours to replace: one that is used elsewhere too, or that another program fills in.
Result<void> check_value(const config::YamlTree& tree, std::string_view file_name, const schema::ParamDef& param,
                         int value) {
  const auto& node = tree.at(value);
  if (!node.users.empty())
    return fail(ErrorCode::invalid_argument,
                "{}:{}: {} carries the anchor &{} that line {} uses too, so that a change would show there", file_name,
                node.line, param.key, node.anchor, tree.at(node.users.front()).line)
        .hint("write the value out in both places");
  if (node.kind == config::YamlKind::scalar && config::is_template(node.value))
    return fail(ErrorCode::invalid_argument, "{}:{}: {} is {}, which another program fills in", file_name, node.line,
                param.key, node.value)
        .hint("write the plain value, or give --config the file that it comes from");
  if (config::is_null(node)) return {};
  RL_TRY(config::read_setting(param, tree, value, file_name));
  return {};
}

/// The path to change: the usual one when the file has it, else the only place of that name, else the usual one anew.
Result<std::string> path_of(const config::YamlTree& tree, std::string_view file_name, const std::string& key,
                            const std::string& usual) {
  const config::KeyPlace place(tree, key, {usual});
  if (place.value() >= 0) return place.path();
  if (!place.absent()) return several_places(file_name, key, place, usual);
  RL_TRY(check_home(tree, file_name, key, usual));
  return usual;
}

Result<config::PatchResult> patch_all(std::string_view yaml, std::string_view file_name,
                                      const schema::TrainingSettings& settings,
                                      const analysis::VariedSettings& varied) {
  RL_TRY_ASSIGN(const auto tree, config::parse_yaml(yaml, file_name));
  const auto wanted = wanted_of(settings, varied);
  config::PatchOptions options;
  options.section = "data";
  for (const auto& one : wanted) {
    RL_TRY_ASSIGN(options.mapping[one.param.key], path_of(tree, file_name, one.param.key, one.path));
  }
  const config::SettingFinder finder(tree, file_name, options);
  config::PatchBuilder builder(yaml, tree, file_name, "");
  std::map<std::string, std::string> before;
  for (const auto& one : wanted) {
    RL_TRY_ASSIGN(const auto found, finder.find(one.param.key));
    if (found && found->value >= 0) RL_TRY(check_value(tree, file_name, one.param, found->value));
    if (found) {
      const auto old =
          config::read_setting(one.param, tree, found->value >= 0 ? found->value : found->inherited, file_name);
      if (old && *old && **old == one.value) continue;
    }
    RL_TRY_ASSIGN(const auto place, finder.place_for(one.param.key));
    if (place.value < 0) {
      builder.add(place, one.param, one.value);
      continue;
    }
    const auto& node = tree.at(place.value);
    const auto begin = node.content;
    before[one.param.key] = std::string(base::trim(yaml.substr(begin, node.end - begin)));
    RL_TRY(builder.change(place.value, one.param, one.value));
  }
  return config::patch_result(builder, before);
}

/// Reads numbers of a file for the advice. What is there and cannot be read is kept as a line.
class NumberReader {
 public:
  NumberReader(const config::YamlTree& tree, std::string_view file) : tree_(tree), file_(file) {}

  /// At the first of the usual paths that the file has, else at the key's only place.
  std::optional<double> at(const std::string& key, const std::vector<std::string>& usual, bool whole) {
    const config::KeyPlace place(tree_, key, usual);
    const int found = place.value();
    if (found < 0) {
      if (!place.absent()) unreadable[key] = several_places(file_, key, place, usual.front()).value();
      return std::nullopt;
    }
    const auto& node = tree_.at(tree_.resolved(found));
    if (config::is_null(node)) return std::nullopt;
    const auto value = base::parse_number(node.value, key);
    if (node.kind == config::YamlKind::scalar && value && *value > 0 &&
        (!whole || (*value == std::floor(*value) && *value < kMostWhole)))
      return *value;
    unreadable[key] =
        fail(ErrorCode::invalid_argument, "{}:{}: {} is {}, which cannot be read here: expected a {} number above 0",
             file_, tree_.at(found).line, key,
             node.kind == config::YamlKind::scalar ? node.value : std::string("a list or section"),
             whole ? "whole" : "plain")
            .value();
    return std::nullopt;
  }
  std::optional<std::int64_t> whole(const std::string& key, const std::vector<std::string>& usual) {
    const auto value = at(key, usual, true);
    return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
  }
  std::map<std::string, base::Error> unreadable;

 private:
  static constexpr double kMostWhole = 1e9;
  const config::YamlTree& tree_;
  std::string_view file_;
};

template <typename T>
void fill(std::optional<T>& field, const std::optional<T>& other, const char* key,
          std::map<std::string, std::string>& unreadable) {
  if (field || !other) return;
  field = other;
  if (const auto line = unreadable.find(key); line != unreadable.end())
    line->second += fmt::format("; the {} of the --config file counts", *other);
}

std::string steps_text(std::int64_t steps) {
  return fmt::format("{} accumulation step{}", steps, steps == 1 ? "" : "s");
}

}  // namespace

TrainingConfig merged(TrainingConfig first, const TrainingConfig& second) {
  fill(first.batch_size, second.batch_size, "batch_size", first.unreadable);
  fill(first.gradient_accumulation_steps, second.gradient_accumulation_steps, "gradient_accumulation_steps",
       first.unreadable);
  fill(first.learning_rate, second.learning_rate, "learning_rate", first.unreadable);
  return first;
}

std::optional<BatchAdvice> advise_on_batch(const TrainingConfig& now, std::int64_t batch) {
  if (!now.batch_size || *now.batch_size == batch) return std::nullopt;
  BatchAdvice out;
  out.batch_before = *now.batch_size;
  out.batch_after = batch;
  out.learning_rate = now.learning_rate;
  out.accumulation = now.gradient_accumulation_steps;
  if (!out.accumulation && now.unreadable.count("gradient_accumulation_steps") == 0) out.accumulation = 1;
  const auto& change = out.change =
      analysis::batch_consequence(out.batch_before, out.accumulation.value_or(1), now.learning_rate.value_or(0), batch);
  for (const auto& [key, line] : now.unreadable) out.lines.push_back(line);
  if (out.accumulation)
    out.lines.push_back(fmt::format("effective batch {} -> {} ({} x {})", change.effective_before,
                                    change.effective_after, batch, steps_text(*out.accumulation)));
  else
    out.lines.push_back(fmt::format("batch {} -> {}: the effective batch becomes {:.3g} times what it was",
                                    out.batch_before, batch, change.ratio));
  auto rules = now.learning_rate
                   ? fmt::format(
                         "learning rate {:g}: the linear rule (SGD) gives {:.4g}, the square-root rule (Adam) "
                         "{:.4g}",
                         *now.learning_rate, change.linear_rate, change.square_root_rate)
                   : fmt::format(
                         "multiply the learning rate by {:.3g} (linear rule, SGD) or {:.3g} (square-root rule, "
                         "Adam)",
                         change.ratio, std::sqrt(change.ratio));
  if (out.accumulation && change.keeps)
    rules += fmt::format("; or keep it with gradient_accumulation_steps: {} (effective batch {})", change.accumulation,
                         change.nearest_effective);
  else if (!out.accumulation && change.keeps)
    rules += fmt::format("; or keep it with {} times the gradient_accumulation_steps", change.accumulation);
  out.lines.push_back(std::move(rules));
  if (!out.accumulation || change.keeps) return out;
  auto nearest = fmt::format(
      "no whole number of gradient_accumulation_steps keeps the effective batch of {}; the nearest is {} (effective "
      "batch {})",
      change.effective_before, change.accumulation, change.nearest_effective);
  if (change.accumulation == *out.accumulation)
    nearest += ", as it is now: take one of these learning rates";
  else if (now.learning_rate)
    nearest += fmt::format(", with a learning rate of {:.4g} (linear) or {:.4g} (square root)",
                           change.nearest_linear_rate, change.nearest_square_root_rate);
  else
    nearest += fmt::format(", with the learning rate times {:.3g} (linear) or {:.3g} (square root)",
                           change.nearest_ratio, std::sqrt(change.nearest_ratio));
  out.lines.push_back(std::move(nearest));
  return out;
}

Result<TrainingConfig> read_training_config(std::string_view yaml, std::string_view file_name) {
  const auto tree = config::parse_yaml(yaml, file_name);
  if (!tree) return tl::unexpected(config::one_line(tree.error()));
  NumberReader reader(*tree, file_name);
  TrainingConfig out;
  out.batch_size = reader.whole("batch_size", {"data.batch_size"});
  out.gradient_accumulation_steps = reader.whole(
      "gradient_accumulation_steps", {"training.gradient_accumulation_steps", "data.gradient_accumulation_steps"});
  out.learning_rate = reader.at("learning_rate", {"training.learning_rate", "data.learning_rate"}, false);
  for (const auto& [key, error] : reader.unreadable) out.unreadable[key] = base::error_line(config::one_line(error));
  return out;
}

Result<config::PatchResult> patch_training_settings(std::string_view yaml, std::string_view file_name,
                                                    const schema::TrainingSettings& settings,
                                                    const analysis::VariedSettings& varied) {
  return patch_all(yaml, file_name, settings, varied).map_error(config::one_line);
}

std::vector<KeptKey> kept_training_settings(std::string_view yaml, std::string_view file_name,
                                            const schema::TrainingSettings& settings,
                                            const analysis::VariedSettings& varied) {
  const analysis::VariedSettings rest{!varied.batch, !varied.workers, !varied.amp, !varied.pin_memory};
  std::vector<KeptKey> out;
  // What would have been changed. A key that could not be changed is no fault where it is not to be.
  for (const auto& only : {analysis::VariedSettings{rest.batch, false, false, false},
                           analysis::VariedSettings{false, rest.workers, false, false},
                           analysis::VariedSettings{false, false, rest.amp, false},
                           analysis::VariedSettings{false, false, false, rest.pin_memory}}) {
    const auto patch = patch_all(yaml, file_name, settings, only);
    if (!patch) continue;
    for (const auto& edit : patch->edits)
      if (edit.before) out.push_back({edit.key, *edit.before});
  }
  return out;
}

}  // namespace ridgeline::campaign
