// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/training_change.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/bench_experiments.hpp"
#include "analysis/varied_settings.hpp"
#include "base/text.hpp"
#include "config/yaml_tree.hpp"

namespace ridgeline::campaign {

using base::Result;

namespace {

/// What the run was given of the training, as it keeps it.
TrainingConfig training_of(const schema::BenchRun& run) {
  TrainingConfig out;
  if (run.has_current) out.batch_size = run.current.batch;
  for (const auto& origin : run.origins) {
    if (origin.name == kRateOrigin)
      if (const auto rate = base::parse_number(origin.value, origin.name)) out.learning_rate = *rate;
    if (origin.name == kAccumulationOrigin)
      if (const auto steps = base::parse_integer(origin.value, origin.name)) out.gradient_accumulation_steps = *steps;
  }
  return out;
}

/// Why a key of the file is left alone.
std::string kept_text(const schema::BenchRun& run, const std::string& file, const KeptKey& kept) {
  const auto& settings = run.answers->recommended->settings;
  std::string why;
  if (kept.key == "pin_memory" && schema::is_cpu_device(run.device))
    why = "pinned memory needs a GPU, which this run did not use";
  else if (kept.key == "num_workers" && !analysis::loads(run.request.job))
    why = "this run trained on random data and loaded nothing";
  else
    why = fmt::format("no other value than {} was tried, so that nothing tells which is better",
                      kept.key == "batch_size"    ? fmt::format("{}", settings.batch)
                      : kept.key == "num_workers" ? fmt::format("{}", settings.workers)
                      : kept.key == "pin_memory"  ? fmt::format("{}", settings.pin_memory)
                                                  : fmt::format("{}", settings.amp != schema::AmpMode::off));
  return fmt::format("{}: {}: {} is left as it is: {}", file, kept.key, kept.value, why);
}

/// The sections of a training's file, or nothing at all.
bool has_place_for_settings(std::string_view text, const std::string& file) {
  const auto tree = config::parse_yaml(text, file);
  if (!tree) return true;  // what is wrong with it is said where it is changed
  return std::all_of(tree->documents.begin(), tree->documents.end(), [&](const auto& document) {
    const int root = tree->resolved(document.root);
    if (config::is_null(tree->at(root))) return true;
    return tree->at(root).kind == config::YamlKind::mapping &&
           (tree->find(root, "data") >= 0 || tree->find(root, "training") >= 0);
  });
}

}  // namespace

Result<std::optional<BatchAdvice>> batch_advice(const schema::BenchRun& run, std::string_view text,
                                                const std::string& file) {
  // A batch that is left as it is changes nothing.
  if (!run.answers || !run.answers->recommended || !analysis::varied_settings(run).batch) return std::nullopt;
  RL_TRY_ASSIGN(auto now, read_training_config(text, file));
  return advise_on_batch(merged(std::move(now), training_of(run)), run.answers->recommended->settings.batch);
}

bool has_training_settings(const config::PatchResult& patch) noexcept {
  return std::any_of(patch.edits.begin(), patch.edits.end(), [](const auto& edit) { return edit.before.has_value(); });
}

Result<config::PatchResult> patch_training_file(std::string_view text, const std::string& file,
                                                const schema::TrainingSettings& settings,
                                                const analysis::VariedSettings& varied) {
  RL_TRY_ASSIGN(auto patch, patch_training_settings(text, file, settings, varied));
  if (!patch.edits.empty() && !has_training_settings(patch) && !has_place_for_settings(text, file))
    return base::fail(
               base::ErrorCode::invalid_argument,
               "{}: holds none of batch_size, num_workers, pin_memory and use_amp, and no section data or training",
               file)
        .hint("add one of these sections, or a key where your training reads it");
  return patch;
}

Result<run::Change> training_change(const schema::MessageRenderer& words, const schema::BenchRun& run,
                                    std::string_view text, const std::string& file) {
  if (!run.answers || !run.answers->recommended)
    return base::fail(base::ErrorCode::invalid_argument, "run {} has no recommendation{}{}; nothing to apply", run.id,
                      run.answers && !run.answers->no_recommendation.empty() ? ": " : "",
                      run.answers ? words.text(run.answers->no_recommendation) : "");
  const auto settings = run.answers->recommended->settings;
  run::Change change;
  const auto varied = analysis::varied_settings(run);
  RL_TRY_ASSIGN(change.patch, patch_training_file(text, file, settings, varied));
  change.write = [file, settings, varied](std::string_view utc) {
    return config::apply_patch(
        file, [&](std::string_view now) { return patch_training_settings(now, file, settings, varied); }, utc);
  };
  const auto kept = kept_training_settings(text, file, settings, varied);
  for (const auto& one : kept) change.after.push_back(kept_text(run, file, one));
  if (change.patch.edits.empty() && !kept.empty()) {  // nor does it hold what is recommended
    change.keeps = true;
    change.before = std::exchange(change.after, {});
    return change;
  }
  // A training that never read a key does not begin to.
  std::vector<std::string> added;
  for (const auto& edit : change.patch.edits)
    if (!edit.before) added.push_back(edit.path);
  if (!added.empty())
    change.after.push_back(fmt::format("{}: {} {} new there: see that your training reads {}", file,
                                       fmt::join(added, ", "), added.size() == 1 ? "is" : "are",
                                       added.size() == 1 ? "it" : "them"));
  if (settings.amp != schema::AmpMode::off && varied.amp)
    change.after.push_back(fmt::format("{}: use_amp was measured as {}", file, base::enum_name(settings.amp)));
  RL_TRY_ASSIGN(const auto advice, batch_advice(run, text, file));
  if (advice)
    for (const auto& line : advice->lines)  // what could not be read names file and line itself
      change.after.push_back(line.rfind(file + ":", 0) == 0 ? line : file + ": " + line);
  return change;
}

}  // namespace ridgeline::campaign
