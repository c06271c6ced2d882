// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/tune_kind.hpp"

#include <algorithm>

#include "analysis/candidate_table.hpp"
#include "analysis/comparison.hpp"
#include "analysis/proof.hpp"
#include "campaign/line_of.hpp"
#include "campaign/tune/compare_runs.hpp"
#include "campaign/tune/recommendation.hpp"
#include "campaign/tune/tune_campaign.hpp"
#include "config/provider_patch.hpp"
#include "report/format.hpp"
#include "report/json_report.hpp"
#include "report/tune_report.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::campaign {
namespace {

using base::Result;

run::Compared side_of(const schema::MessageRenderer& words, const ComparedTrial& one) {
  const auto& run = one.run;
  return {one.name(),
          one.trial.key,
          words.text(report::value_by(*one.outcome.measurement, run.request.objective)),
          one.outcome.measured_utc,
          {{"settings", one.trial.configuration.to_text()},
           {"runtime", run.runtime.name + " " + run.runtime.version},
           {"provider", run.provider},
           {"device", run.device},
           {"operating system", run.environment.os + ", " + run.environment.kernel}}};
}

/// The settings of another trial than the recommended one.
Result<run::Change> trial_change(const schema::MessageRenderer& words, const schema::Run& stored, std::string_view text,
                                 const run::Target& target, store::Store& store) {
  RL_TRY_ASSIGN(auto result, complete_result(store, stored));
  auto& run = result.run;
  const auto ranking = analysis::rank(run, result.outcomes);
  const auto& trial = run.trials[static_cast<std::size_t>(target.trial - 1)];
  const auto ranked =
      std::find_if(ranking.begin(), ranking.end(), [&](const auto& one) { return one.trial->key == trial.key; });
  if (ranked == ranking.end()) {
    const auto outcome = result.outcomes.find(trial.key);
    const bool told = outcome != result.outcomes.end() && outcome->second.failure;
    return base::fail(base::ErrorCode::invalid_argument, "{}/{}: {}; nothing to apply", run.id, target.trial,
                      told ? words.line(outcome->second.failure->message) : std::string("it has no result"))
        .hint("choose another with RUN/TRIAL");
  }
  const auto figure = [&](const analysis::RankedTrial& one) {
    return words.text(report::value_by(*one.outcome->measurement, run.request.objective));
  };
  auto note = fmt::format("note: trial {}, {}: how much faster it is than what you have was not compared", target.trial,
                          figure(*ranked));
  if (run.verdict && run.verdict->trial_id != 0 && run.verdict->trial_id != target.trial)
    for (const auto& one : ranking)
      if (one.trial->id == run.verdict->trial_id)
        note += fmt::format("; the run recommends trial {}, {}", one.trial->id, figure(one));
  if (!ranked->meets_constraints) note += fmt::format("; it breaks {}", words.text(ranked->broken_constraint));
  schema::TuneVerdict verdict;
  verdict.decision = schema::Decision::change;
  verdict.configuration = trial.configuration;
  verdict.trial_id = target.trial;
  if (run.verdict && run.verdict->trial_id == target.trial)
    verdict = *run.verdict, verdict.decision = schema::Decision::change;
  run.verdict = std::move(verdict);
  RL_TRY_ASSIGN(auto change, tune_change(run, text, target));
  change.before.insert(change.before.begin(), std::move(note));
  return change;
}

class TuneKind final : public run::Kind {
 public:
  TuneKind(const schema::MessageRenderer& words, MakeExecutor make) : words_(words), make_(std::move(make)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return schema::TuneRun::kLayout.kind; }

  [[nodiscard]] Result<report::ReportModel> report(const schema::Run& run, store::Store& store) const override {
    RL_TRY_ASSIGN(const auto result, complete_result(store, run));
    return report::build_tune_report(words_, result.run, result.outcomes, result.pairs);
  }

  [[nodiscard]] Result<base::Json> json(const schema::Run& run, store::Store& store) const override {
    RL_TRY_ASSIGN(const auto result, complete_result(store, run));
    return report::tune_json(words_, result.run, result.outcomes, result.pairs);
  }

  [[nodiscard]] Result<run::RunComparison> compare(const run::TrialName& a, const run::TrialName& b,
                                                   store::Store& store,
                                                   std::optional<double> min_effect) const override {
    RL_TRY_ASSIGN(const auto one, compared_trial(store, a));
    RL_TRY_ASSIGN(const auto other, compared_trial(store, b));
    run::RunComparison out{
        side_of(words_, one), side_of(words_, other), {}, min_effect.value_or(analysis::separate_min_effect())};
    RL_TRY_ASSIGN(out.comparison, compare_runs(one, other, out.min_effect));
    return out;
  }

  [[nodiscard]] Result<run::RunComparison> rerun(const run::TrialName& name, store::Store& store) const override {
    RL_TRY_ASSIGN(const auto before, compared_trial(store, name));
    RL_TRY_ASSIGN(const auto stored, store.find_trial(before.trial.key));
    if (!stored)
      return base::fail(base::ErrorCode::not_found, "{}: its record is not in {}", before.name(),
                        store.path().string());
    RL_TRY_ASSIGN(const auto executor, make_(stored->spec.device));
    execute::TrialOptions options;
    options.throughput = before.run.request.objective == schema::Objective::throughput;
    auto now = before;
    RL_TRY_ASSIGN(now.outcome, execute::run_trial(*executor, stored->spec, options));
    if (now.outcome.status != schema::TrialStatus::ok || !now.outcome.measurement)
      return base::fail(base::ErrorCode::unavailable, "{}: ran then, now {}: {}", before.name(),
                        base::enum_name(now.outcome.status),
                        now.outcome.failure ? words_.line(now.outcome.failure->message) : "no reason given");
    return run::RunComparison{
        side_of(words_, before), side_of(words_, now),
        analysis::compare_separate(*before.outcome.measurement, *now.outcome.measurement, before.run.request.objective,
                                   std::max(before.run.request.min_effect, analysis::separate_min_effect()))};
  }

  [[nodiscard]] bool knows(const schema::Run&, std::string_view text, const run::Target& target) const override {
    std::vector<config::UnreadSetting> unread;
    const auto found = config::read_settings(text, target.file, target.options, &unread);
    // These names are common elsewhere.
    const auto is_common = [](const auto& one) { return one.key == "batch_size" || one.key == "parallel_sessions"; };
    return !found || !std::all_of(found->begin(), found->end(), is_common);
  }

  [[nodiscard]] Result<run::Change> change(const schema::Run& stored, std::string_view text, const run::Target& target,
                                           store::Store& store) const override {
    if (target.trial != 0) return trial_change(words_, stored, text, target, store);
    RL_TRY_ASSIGN(const auto run, schema::run_as<schema::TuneRun>(stored));
    return tune_change(run, text, target);
  }

 private:
  const schema::MessageRenderer& words_;
  MakeExecutor make_;
};

}  // namespace

Result<run::Change> tune_change(const schema::TuneRun& run, std::string_view text, const run::Target& target) {
  if (!run.verdict || run.verdict->decision == schema::Decision::none)
    return base::fail(base::ErrorCode::invalid_argument, "run {} has no recommendation{}{}; nothing to apply", run.id,
                      run.verdict ? ": " : "", run.verdict ? line_of(run.verdict->reason) : "");
  run::Change change;
  if (run.verdict->decision == schema::Decision::keep) {
    change.keeps = true;
    change.before.push_back(
        fmt::format("run {}: {}{}", run.id, analysis::is_undecided(run) ? "" : "keep: ", line_of(run.verdict->reason)));
    return change;
  }
  auto options = target.options;
  if (!options.section_named)
    options.section = analysis::config_section(run, run.verdict->configuration);  // nothing else was named
  if (target.provenance)
    options.provenance = fmt::format("ridgeline {} trial {}{}", run.id, run.verdict->trial_id,
                                     schema::is_simulated(run) ? " (simulated)" : "");
  std::vector<config::UnreadSetting> unread;
  RL_TRY_ASSIGN(const auto found, config::read_settings(text, target.file, options, &unread));
  RL_TRY(check_unread(run, unread));
  schema::Configuration in_file;
  for (const auto& setting : found) in_file.set(setting.key, setting.value);
  const auto current = as_seen_by(run, in_file);
  const auto wanted = settings_to_write(run, in_file);
  const auto removed = settings_to_remove(run, in_file);
  for (const auto& setting : found)
    if (std::find(removed.begin(), removed.end(), setting.key) != removed.end())
      change.before.push_back(removal_text(target.file, setting, "the recommendation"));
  if (!wanted.empty() && current != as_seen_by(run, run.current))
    change.before.push_back(
        fmt::format("note: the run compared with {}, but {} has {}: how much faster it gets was not measured",
                    run.current.to_text(), target.file, current.to_text()));
  const auto* candidate = schema::find_candidate(run.candidates, schema::candidate_of(run.verdict->configuration));
  const auto make = [file = target.file, wanted, options,
                     provider = candidate != nullptr ? candidate->provider : std::string()](
                        std::string_view before) -> Result<config::PatchResult> {
    RL_TRY_ASSIGN(auto patch, config::patch_settings(before, file, wanted, options));
    if (provider.empty()) return patch;
    RL_TRY_ASSIGN(auto whole, config::patch_provider(patch.text, file, schema::provider_of(provider)));
    whole.edits.insert(whole.edits.begin(), patch.edits.begin(), patch.edits.end());
    return whole;
  };
  RL_TRY_ASSIGN(change.patch, make(text));
  change.write = [file = target.file, make](std::string_view utc) { return config::apply_patch(file, make, utc); };
  if (candidate != nullptr && run.verdict->code)
    change.before.push_back(
        fmt::format("the recommendation runs on {}{}{}; `ridgeline report {}` has the code that "
                    "loads it",
                    candidate->id, run.verdict->code->install.empty() ? "" : ": ", run.verdict->code->install, run.id));
  return change;
}

std::string removal_text(const std::string& file, const config::FoundSetting& setting, std::string_view who) {
  return fmt::format(
      "{}: remove {}: {} by hand: {} leaves it at the runtime's own default, which cannot be written out", file,
      setting.path, setting.value.to_text(), who);
}

std::unique_ptr<run::Kind> make_tune_kind(const schema::MessageRenderer& words, MakeExecutor make) {
  return std::make_unique<TuneKind>(words, std::move(make));
}

}  // namespace ridgeline::campaign
