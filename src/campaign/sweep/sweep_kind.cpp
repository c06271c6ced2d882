// SPDX-License-Identifier: Apache-2.0
#include "campaign/sweep/sweep_kind.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "analysis/comparison.hpp"
#include "analysis/sweep_answers.hpp"
#include "analysis/sweep_comparison.hpp"
#include "campaign/messages.hpp"
#include "campaign/sweep/sweep_patch.hpp"
#include "report/sweep_report.hpp"
#include "report/sweep_table.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::Result;

/// The objective of a trial or of a combination.
struct Measured {
  stats::Estimate value;
  std::vector<double> values;  ///< by trial
};

/// ... of the recommended combination where `trial` is 0; and the side of the comparison.
Result<Measured> value_of(const schema::SweepRun& run, int trial, run::Compared& side) {
  Measured out;
  schema::SweepPoint point;
  if (trial == 0) {
    const auto found =
        !run.answers ? run.points.end() : std::find_if(run.points.begin(), run.points.end(), [&](const auto& one) {
          return one.point == run.answers->recommended;
        });
    if (found == run.points.end())
      return base::fail(ErrorCode::invalid_argument, "run {} recommends nothing", run.id)
          .hint("choose a trial with RUN/TRIAL");
    if (found->trials.empty())
      return base::fail(ErrorCode::invalid_argument, "{}: no trial of {} went well", run.id,
                        schema::point_text(found->point, run.request.job.parameters))
          .hint("choose another");
    point = found->point;
    out.value = found->objective;
    for (const auto& one : run.trials)
      if (std::find(found->trials.begin(), found->trials.end(), one.id) != found->trials.end())
        out.values.push_back(one.outcome.metrics.at(run.request.objective.metric));
    side.name = side.key = run.id;
    side.measured_utc = run.finished_utc;
  } else {
    const auto& one = run.trials[static_cast<std::size_t>(trial - 1)];
    side.name = fmt::format("{}/{}", run.id, trial);
    const auto metric = one.outcome.metrics.find(run.request.objective.metric);
    if (one.outcome.status != schema::TrialStatus::ok || metric == one.outcome.metrics.end())
      return base::fail(ErrorCode::invalid_argument, "{} has no {} ({})", side.name, run.request.objective.metric,
                        base::enum_name(one.outcome.status))
          .hint("choose another trial");
    point = one.point;
    out.value = {metric->second, metric->second, metric->second};
    out.values = {metric->second};
    side.key = one.key;
    side.measured_utc = one.outcome.measured_utc;
  }
  side.figure = fmt::format("{} {}", report::sweep_number(out.value.value), run.request.objective.metric);
  side.facts = {{"settings", schema::point_text(point, run.request.job.parameters)},
                {"command", fmt::format("{}", fmt::join(run.request.job.command, " "))},
                {"device", run.device_id},
                {"operating system", run.environment.os + ", " + run.environment.kernel}};
  return out;
}

/// The objective as a cost: what lower is better of.
stats::Estimate cost_of_value(const schema::SweepObjective& objective, const stats::Estimate& value) {
  if (!objective.maximize) return value;
  return {1 / value.value, 1 / value.high, value.low > 0 ? 1 / value.low : 0};
}

/// The effect that counts where nobody names another.
struct DefaultEffect {
  double share = 0;  ///< of ratios
  double unit = 0;   ///< of differences
};

/// By the ratio of their costs, or by the difference where `differences` says that there is none.
void compare_measured(const schema::SweepObjective& objective, bool differences, const Measured& a, const Measured& b,
                      std::optional<double> min_effect, const DefaultEffect& otherwise, run::RunComparison& out) {
  out.min_effect = min_effect.value_or(differences ? otherwise.unit : otherwise.share);
  if (differences) {
    auto found = analysis::compare_values(objective, a.values, b.values, out.min_effect);
    out.comparison.verdict = found.verdict;
    out.difference = std::move(found.difference);
  } else {
    out.comparison = analysis::compare_estimates(cost_of_value(objective, a.value), cost_of_value(objective, b.value),
                                                 out.min_effect);
  }
}

/// Makes a trial's combination the recommended one.
Result<void> recommend_trial(const schema::MessageRenderer& words, schema::SweepRun& run, int number) {
  const auto& trial = run.trials[static_cast<std::size_t>(number - 1)];
  if (trial.outcome.status != schema::TrialStatus::ok)
    return base::fail(ErrorCode::invalid_argument, "{}/{}: {}; nothing to apply", run.id, number,
                      trial.outcome.failure ? words.line(trial.outcome.failure->message)
                                            : std::string(base::enum_name(trial.outcome.status)))
        .hint("choose another with RUN/TRIAL");
  if (!run.answers) run.answers.emplace();
  run.answers->recommended = trial.point;
  return {};
}

class SweepKind final : public run::Kind {
 public:
  SweepKind(const schema::MessageRenderer& words, MakeSweepExecutor make) : words_(words), make_(std::move(make)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return schema::SweepRun::kLayout.kind; }

  [[nodiscard]] Result<report::ReportModel> report(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto sweep, sweep_so_far(run));
    return report::build_sweep_report(words_, sweep);
  }

  [[nodiscard]] Result<base::Json> json(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto sweep, sweep_so_far(run));
    return report::sweep_json(words_, sweep);
  }

  [[nodiscard]] Result<run::RunComparison> compare(const run::TrialName& a, const run::TrialName& b, store::Store&,
                                                   std::optional<double> min_effect) const override {
    RL_TRY_ASSIGN(const auto one, sweep_so_far(a.run));
    RL_TRY_ASSIGN(const auto other, sweep_so_far(b.run));
    if (one.request.objective.to_text() != other.request.objective.to_text())
      return base::fail(ErrorCode::invalid_argument,
                        "{} is judged by {} and {} by {}: a ratio of the two would mean nothing", one.id,
                        one.request.objective.to_text(), other.id, other.request.objective.to_text())
          .hint("compare sweeps with the same --objective");
    run::RunComparison out;
    RL_TRY_ASSIGN(const auto value_a, value_of(one, a.trial, out.a));
    RL_TRY_ASSIGN(const auto value_b, value_of(other, b.trial, out.b));
    const bool differences = analysis::compares_differences(one) || analysis::compares_differences(other);
    compare_measured(one.request.objective, differences, value_a, value_b, min_effect,
                     {analysis::separate_min_effect(), std::max(one.request.min_effect, other.request.min_effect)},
                     out);
    return out;
  }

  /// The whole combination, in as many rounds as the run had.
  [[nodiscard]] Result<run::RunComparison> rerun(const run::TrialName& name, store::Store&) const override {
    RL_TRY_ASSIGN(auto sweep, sweep_so_far(name.run));
    if (name.trial != 0) {
      sweep.answers.emplace();
      sweep.answers->recommended = sweep.trials[static_cast<std::size_t>(name.trial - 1)].point;
    }
    run::RunComparison out;
    RL_TRY_ASSIGN(const auto then, value_of(sweep, 0, out.a));
    const bool differences = analysis::compares_differences(sweep);
    const auto executor = make_();
    const auto point = sweep.answers->recommended;
    sweep.trials.clear();
    for (int round = 0; round < std::max(1, sweep.request.repeats); ++round) {
      schema::SweepTrial trial;
      trial.id = trial.repeat = round;
      trial.point = point;
      const auto folder = std::filesystem::path(sweep.folder) / fmt::format("rerun-{}", round + 1);
      RL_TRY_ASSIGN(trial.outcome,
                    execute::run_command_trial(*executor, {sweep.request.job, point, round, sweep.device_id}, folder,
                                               std::nullopt));
      if (trial.outcome.status != schema::TrialStatus::ok ||
          trial.outcome.metrics.count(sweep.request.objective.metric) == 0)
        return base::fail(ErrorCode::unavailable, "{}: ran then, now {}: {}", out.a.name,
                          base::enum_name(trial.outcome.status),
                          trial.outcome.failure ? words_.line(trial.outcome.failure->message)
                                                : "no " + sweep.request.objective.metric)
            .hint("see {}/output.log", folder.string());
      sweep.trials.push_back(std::move(trial));
    }
    sweep.points = analysis::summarize_sweep(sweep);
    RL_TRY_ASSIGN(const auto now, value_of(sweep, 0, out.b));
    out.b.measured_utc = sweep.trials.back().outcome.measured_utc;
    compare_measured(
        sweep.request.objective, differences || analysis::compares_differences(sweep), then, now, std::nullopt,
        {std::max(sweep.request.min_effect, analysis::separate_min_effect()), sweep.request.min_effect}, out);
    return out;
  }

  [[nodiscard]] bool knows(const schema::Run& run, std::string_view text, const run::Target& target) const override {
    if (!target.paths.empty()) return true;  // the user said where
    const auto sweep = schema::run_as<schema::SweepRun>(run);
    if (!sweep) return false;
    const auto found = read_sweep_values(text, target.file, sweep->request.job.parameters, target.paths);
    return found && !found->empty();
  }

  [[nodiscard]] Result<run::Change> change(const schema::Run& stored, std::string_view text, const run::Target& target,
                                           store::Store&) const override {
    RL_TRY_ASSIGN(auto run, sweep_so_far(stored));
    if (target.trial != 0) RL_TRY(recommend_trial(words_, run, target.trial));
    return sweep_change(run, text, target.file, target.paths);
  }

 private:
  const schema::MessageRenderer& words_;
  MakeSweepExecutor make_;
};

}  // namespace

Result<schema::SweepRun> sweep_so_far(const schema::Run& stored) {
  RL_TRY_ASSIGN(auto run, schema::run_as<schema::SweepRun>(stored));
  if (run.finished_utc.empty()) {
    run.points = analysis::summarize_sweep(run);
    run.answers = analysis::answer_sweep(run, run.points);
    run.interruption = messages::sweep_unfinished();
  }
  return run;
}

Result<run::Change> sweep_change(const schema::SweepRun& run, std::string_view text, const std::string& file,
                                 const std::map<std::string, std::string>& paths) {
  if (!run.answers)
    return base::fail(ErrorCode::invalid_argument,
                      "run {} has no recommendation: no combination went well; nothing to apply", run.id);
  RL_TRY(check_paths(paths, run.request.job.parameters, "run " + run.id));
  const auto settings = settings_of(run.answers->recommended, run.request.job.parameters, paths);
  run::Change change;
  RL_TRY_ASSIGN(change.patch, patch_sweep_settings(text, file, settings));
  change.write = [file, settings](std::string_view utc) {
    return config::apply_patch(
        file, [&](std::string_view now) { return patch_sweep_settings(now, file, settings); }, utc);
  };
  RL_TRY_ASSIGN(const auto absent, names_without_place(text, file, settings));
  if (!absent.empty())
    change.after.push_back(
        fmt::format("{}: {} not written, the file has no such name: add it, or say where with --apply-to {}=PATH", file,
                    fmt::join(absent, ", "), absent.front()));
  return change;
}

std::unique_ptr<run::Kind> make_sweep_kind(const schema::MessageRenderer& words, MakeSweepExecutor make) {
  return std::make_unique<SweepKind>(words, std::move(make));
}

}  // namespace ridgeline::campaign
