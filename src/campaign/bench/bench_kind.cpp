// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/bench_kind.hpp"

#include "analysis/comparison.hpp"
#include "base/text.hpp"
#include "campaign/bench/bench_campaign.hpp"
#include "campaign/bench/training_change.hpp"
#include "report/bench_report.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::campaign {
namespace {

using base::Result;

/// Samples/s of a trial, or of the recommended settings where it is 0; and the side of the comparison.
Result<stats::Estimate> rate_of(const schema::BenchRun& run, int trial, run::Compared& side) {
  stats::Estimate rate;
  schema::TrainingSettings settings;
  if (trial == 0) {
    if (!run.answers || !run.answers->recommended)
      return base::fail(base::ErrorCode::invalid_argument, "run {} recommends nothing", run.id)
          .hint("choose a trial with RUN/TRIAL");
    const auto& answer = *run.answers->recommended;
    rate = {answer.samples_per_s, answer.low, answer.high};
    settings = answer.settings;
    side.name = side.key = run.id;
    side.measured_utc = run.finished_utc;
  } else {
    const auto& one = run.trials[static_cast<std::size_t>(trial - 1)];
    side.name = fmt::format("{}/{}", run.id, trial);
    if (!one.outcome.measurement)
      return base::fail(base::ErrorCode::invalid_argument, "{} has no measurement ({})", side.name,
                        base::enum_name(one.outcome.status))
          .hint("choose another trial");
    rate = one.outcome.measurement->samples_per_s;
    settings = one.settings;
    side.key = one.key;
    side.measured_utc = one.outcome.measured_utc;
  }
  side.figure = base::format_count(rate.value) + " samples/s";
  side.facts = {{"settings", schema::describe(settings, run.device)},
                {"device", run.device_id.empty() ? run.device : run.device_id},
                {"operating system", run.environment.os + ", " + run.environment.kernel}};
  return rate;
}

/// Samples/s as a cost: what lower is better of.
stats::Estimate cost_of_rate(const stats::Estimate& rate) {
  return {1 / rate.value, 1 / rate.high, rate.low > 0 ? 1 / rate.low : 0};
}

/// Makes a trial the recommended one.
Result<void> recommend_trial(const schema::MessageRenderer& words, schema::BenchRun& run, int number) {
  const auto& trial = run.trials[static_cast<std::size_t>(number - 1)];
  if (trial.outcome.status != schema::TrialStatus::ok)
    return base::fail(base::ErrorCode::invalid_argument, "{}/{}: {}; nothing to apply", run.id, number,
                      trial.outcome.failure ? words.line(trial.outcome.failure->message)
                                            : std::string(base::enum_name(trial.outcome.status)))
        .hint("choose another with RUN/TRIAL");
  if (!run.answers) run.answers.emplace();
  if (!run.answers->recommended) run.answers->recommended.emplace();
  run.answers->recommended->settings = trial.settings;
  return {};
}

class BenchKind final : public run::Kind {
 public:
  BenchKind(const schema::MessageRenderer& words, MakeTrainingExecutor make) : words_(words), make_(std::move(make)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return schema::BenchRun::kLayout.kind; }

  [[nodiscard]] Result<report::ReportModel> report(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto bench, schema::run_as<schema::BenchRun>(run));
    return report::build_bench_report(words_, bench);
  }

  [[nodiscard]] Result<base::Json> json(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto bench, schema::run_as<schema::BenchRun>(run));
    return report::bench_json(words_, bench);
  }

  [[nodiscard]] Result<run::RunComparison> compare(const run::TrialName& a, const run::TrialName& b, store::Store&,
                                                   std::optional<double> min_effect) const override {
    RL_TRY_ASSIGN(const auto one, schema::run_as<schema::BenchRun>(a.run));
    RL_TRY_ASSIGN(const auto other, schema::run_as<schema::BenchRun>(b.run));
    if (one.request.job.kind != other.request.job.kind || one.request.job.target != other.request.job.target)
      return base::fail(base::ErrorCode::invalid_argument,
                        "{} trains {} {} and {} trains {} {}: a ratio of the two would mean nothing", one.id,
                        one.request.job.kind, one.request.job.target, other.id, other.request.job.kind,
                        other.request.job.target)
          .hint("compare runs of the same training step");
    run::RunComparison out;
    RL_TRY_ASSIGN(const auto rate_a, rate_of(one, a.trial, out.a));
    RL_TRY_ASSIGN(const auto rate_b, rate_of(other, b.trial, out.b));
    out.min_effect = min_effect.value_or(analysis::separate_min_effect());
    out.comparison = analysis::compare_estimates(cost_of_rate(rate_a), cost_of_rate(rate_b), out.min_effect);
    return out;
  }

  /// Of what a run recommends, its first trial.
  [[nodiscard]] Result<run::RunComparison> rerun(const run::TrialName& name, store::Store& store) const override {
    RL_TRY_ASSIGN(auto bench, schema::run_as<schema::BenchRun>(name.run));
    int trial = name.trial;
    if (trial == 0 && bench.answers && bench.answers->recommended && !bench.answers->recommended->trials.empty())
      trial = bench.answers->recommended->trials.front();
    if (trial < 1 || trial > static_cast<int>(bench.trials.size()))
      return base::fail(base::ErrorCode::invalid_argument, "run {} recommends nothing", bench.id)
          .hint("choose a trial with RUN/TRIAL");
    run::RunComparison out;
    RL_TRY_ASSIGN(const auto then, rate_of(bench, trial, out.a));
    auto& one = bench.trials[static_cast<std::size_t>(trial - 1)];
    RL_TRY_ASSIGN(const auto stored, store.find_record(one.key));
    if (!stored)
      return base::fail(base::ErrorCode::not_found, "{}: its record is not in {}", out.a.name, store.path().string());
    RL_TRY_ASSIGN(const auto spec, base::json_as<schema::TrainingTrialSpec>(stored->spec, "trial " + out.a.name));
    RL_TRY_ASSIGN(const auto executor, make_(spec));
    RL_TRY_ASSIGN(one.outcome, execute::run_training(*executor, spec));
    if (!one.outcome.measurement)
      return base::fail(base::ErrorCode::unavailable, "{}: ran then, now {}: {}", out.a.name,
                        base::enum_name(one.outcome.status),
                        one.outcome.failure ? words_.line(one.outcome.failure->message) : "no reason given");
    RL_TRY_ASSIGN(const auto now, rate_of(bench, trial, out.b));
    out.comparison =
        analysis::compare_estimates(cost_of_rate(then), cost_of_rate(now), analysis::separate_min_effect());
    return out;
  }

  [[nodiscard]] bool knows(const schema::Run&, std::string_view text, const run::Target& target) const override {
    const auto patch = patch_training_settings(text, target.file, schema::TrainingSettings{});
    return !patch || has_training_settings(*patch) || patch->edits.empty();
  }

  [[nodiscard]] Result<run::Change> change(const schema::Run& stored, std::string_view text, const run::Target& target,
                                           store::Store&) const override {
    RL_TRY_ASSIGN(auto run, schema::run_as<schema::BenchRun>(stored));
    if (target.trial != 0) RL_TRY(recommend_trial(words_, run, target.trial));
    return training_change(words_, run, text, target.file);
  }

 private:
  const schema::MessageRenderer& words_;
  MakeTrainingExecutor make_;
};

}  // namespace

std::unique_ptr<run::Kind> make_bench_kind(const schema::MessageRenderer& words, MakeTrainingExecutor make) {
  return std::make_unique<BenchKind>(words, std::move(make));
}

}  // namespace ridgeline::campaign
