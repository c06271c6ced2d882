// SPDX-License-Identifier: Apache-2.0
#include "campaign/sweep/sweep_campaign.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/sweep_answers.hpp"
#include "base/text.hpp"
#include "campaign/messages.hpp"
#include "campaign/run_frame.hpp"
#include "campaign/spread.hpp"
#include "campaign/sweep/sweep_files.hpp"
#include "schema/message_renderer.hpp"
#include "schema/messages.hpp"
#include "schema/sweep_command.hpp"
#include "search/searcher.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::Result;
using schema::SweepPoint;
using schema::SweepStage;
using schema::SweepTrial;
using schema::TrialStatus;

constexpr double kLeaderMargin = 1.10;  ///< times the best's cost: measured again after an adaptive search
constexpr std::size_t kMostCandidates = 8;
constexpr std::size_t kAlikeFailures = 3;
constexpr std::string_view kKeyPrefix = "sweep:";  ///< keeps parameters apart from the catalogue's

bool is_number(const std::string& text) { return base::parse_number(text, "value").has_value(); }

/// A parameter's first value is the space's default; the others are named by their place in the list, as a number where
/// all values are numbers, so that neighbours count as alike.
schema::Dimension dimension_of(const schema::SweepParam& param) {
  const bool ordered = std::all_of(param.values.begin(), param.values.end(), is_number);
  schema::Dimension out{std::string(kKeyPrefix) + param.name, {}};
  for (std::size_t i = 1; i < param.values.size(); ++i)
    out.values.push_back(ordered ? schema::Value(static_cast<std::int64_t>(i)) : schema::Value(std::to_string(i)));
  return out;
}

search::SearchSpace space_of(const schema::SweepJob& job) {
  std::vector<schema::Dimension> dimensions;
  for (const auto& param : job.parameters)
    if (param.values.size() > 1) dimensions.push_back(dimension_of(param));
  return {std::move(dimensions), {}, {}};
}

SweepPoint point_of(const schema::Configuration& configuration, const schema::SweepJob& job) {
  SweepPoint out;
  for (const auto& param : job.parameters) {
    std::size_t index = 0;
    if (const auto* value = configuration.find(std::string(kKeyPrefix) + param.name))
      index = static_cast<std::size_t>(value->is_integer() ? value->as_integer() : std::stoll(value->to_text()));
    out[param.name] = param.values[index];
  }
  return out;
}

/// A stored outcome that another try would not change.
bool answers_for_good(const schema::SweepOutcome& outcome, double timeout_s) {
  if (outcome.status == TrialStatus::ok || outcome.status == TrialStatus::out_of_memory) return true;
  return outcome.status == TrialStatus::timeout && timeout_s > 0 && outcome.timeout_s >= timeout_s;
}

class RunningSweep {
 public:
  RunningSweep(execute::Executor& executor, store::Store& store, SweepObserver& observer,
               const std::function<bool()>& cancelled, const SweepRequest& request)
      : executor_(executor),
        store_(store),
        observer_(observer),
        cancelled_(cancelled),
        request_(request),
        budget_(executor.clock(), request.max_time),
        spread_(executor, budget_, interference_check()),
        frame_(store, executor.clock(), budget_, run_, schema::shell_line(request.arguments)) {}

  Result<schema::SweepRun> go() {
    run_.request = request_;
    run_.device_id = request_.device_id;
    run_.folder = (request_.folder / run_.id).string();
    run_.space_size = space_of(request_.job).raw_size();
    RL_TRY_ASSIGN(run_.environment, executor_.environment(0));
    observer_.started(run_);
    if (auto status = steps(); !status) {
      const auto code = status.error().code;
      if (code != ErrorCode::cancelled && code != ErrorCode::timeout)
        return tl::unexpected<base::Error>(std::move(status).error());
      run_.interrupted = code == ErrorCode::cancelled;
      run_.interruption = run_.interrupted       ? messages::stopped_by_signal()
                          : out_of_time_.empty() ? messages::sweep_max_time()
                                                 : std::move(out_of_time_);
    }
    run_.points = analysis::summarize_sweep(run_);
    run_.answers = analysis::answer_sweep(run_, run_.points);
    if (auto note = spread_.note(); !note.empty()) run_.notes.push_back(std::move(note));
    note_large_shares();
    RL_TRY(frame_.end());
    return std::move(run_);
  }

 private:
  /// A number of 1 and above is meant in the metric's unit.
  void note_large_shares() {
    if (analysis::compares_differences(run_)) return;
    for (const auto& [flag, value] :
         {std::pair{"--min-effect", run_.request.min_effect}, std::pair{"--tolerance", run_.request.tolerance}})
      if (value >= 1)
        run_.notes.push_back(messages::sweep_compares_ratios(
            {.flag = flag, .value = value, .share = value, .metric = run_.request.objective.metric}));
  }

  [[nodiscard]] std::optional<double> time_left_s() const {
    return budget_.is_limited() ? std::optional(budget_.left_s()) : std::nullopt;
  }

  Result<void> steps() {
    const auto space = space_of(request_.job);
    RL_TRY(warm_up(point_of(space.defaults(), request_.job)));
    search::SearcherOptions options;
    options.seed = request_.seed;
    options.random_budget = request_.trials;
    options.min_effect = request_.min_effect;
    RL_TRY_ASSIGN(const auto searcher, search::make_searcher(request_.search, space, options));
    const auto rounds = static_cast<std::size_t>(std::max(0, request_.repeats - 1));
    std::vector<SweepPoint> measured;
    for (auto batch = search::next_batch(*searcher, spread_.width()); !batch.empty();
         batch = search::next_batch(*searcher, spread_.width())) {
      std::vector<SweepTrial> trials(batch.size());
      for (std::size_t i = 0; i < batch.size(); ++i) {
        trials[i].point = point_of(batch[i].configuration, request_.job);
        if (request_.search == "adaptive") trials[i].reason = batch[i].reason;
      }
      const auto ahead = searcher->remaining();
      const auto again =
          request_.search == "adaptive" ? std::min(measured.size() + 1, kMostCandidates) : measured.size() + 1 + ahead;
      RL_TRY_ASSIGN(const auto outcomes, make(std::move(trials), ahead + again * rounds));
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto cost = analysis::sweep_cost(outcomes[i], request_.objective);
        search::Observation observation;
        observation.cost = cost;
        observation.cost_low = observation.cost_high = cost.value_or(0);
        observation.out_of_memory = outcomes[i].status == TrialStatus::out_of_memory;
        searcher->observe(batch[i], observation);
        if (!cost) continue;
        measured.push_back(point_of(batch[i].configuration, request_.job));
        costs_[measured.back()] = *cost;
        numbers_[measured.back()] = outcomes[i].metrics.at(request_.objective.metric);
      }
      if (fails_alike()) {
        run_.interruption = messages::sweep_failed_alike(kAlikeFailures);
        return {};
      }
    }
    return repeat(request_.search == "adaptive" ? leaders(std::move(measured)) : std::move(measured));
  }

  /// Trials that do not count, where anything is going to be measured.
  Result<void> warm_up(const SweepPoint& point) {
    for (int i = 0; i < request_.warmups; ++i) {
      SweepTrial trial{.stage = SweepStage::warmup, .point = point, .repeat = -1 - i};
      trial.reason = messages::sweep_warm_up();
      RL_TRY(make({std::move(trial)}, 0));
    }
    return {};
  }

  [[nodiscard]] std::vector<SweepPoint> leaders(std::vector<SweepPoint> points) const {
    std::stable_sort(points.begin(), points.end(),
                     [&](const auto& a, const auto& b) { return costs_.at(a) < costs_.at(b); });
    if (points.empty()) return points;
    const double best = costs_.at(points.front());
    const double best_number = numbers_.at(points.front());
    const bool differences = analysis::compares_differences(run_);
    const auto is_near = [&](const SweepPoint& point) {
      return differences ? std::abs(numbers_.at(point) - best_number) <= kLeaderMargin - 1
                         : costs_.at(point) <= best * kLeaderMargin;
    };
    const auto first = points_of_first();
    std::vector<SweepPoint> out;
    for (auto& point : points)
      if ((out.size() < kMostCandidates && is_near(point)) || point == first) out.push_back(std::move(point));
    return out;
  }

  [[nodiscard]] SweepPoint points_of_first() const { return point_of({}, request_.job); }

  /// Round robin, each round the other way about, so that drift of the machine does not pick the winner.
  Result<void> repeat(std::vector<SweepPoint> points) {
    for (int round = 1; round < request_.repeats; ++round) {
      std::reverse(points.begin(), points.end());
      std::vector<SweepPoint> still_good;
      for (std::size_t at = 0; at < points.size();) {
        const auto end = std::min(points.size(), at + spread_.width());
        std::vector<SweepTrial> trials;
        for (std::size_t i = at; i < end; ++i)
          trials.push_back({.stage = SweepStage::repeat, .point = points[i], .repeat = round});
        const auto rounds_left = static_cast<std::size_t>(request_.repeats - 1 - round);
        RL_TRY_ASSIGN(const auto outcomes, make(std::move(trials), points.size() - end + rounds_left * points.size()));
        for (const auto& outcome : outcomes) {
          if (analysis::sweep_cost(outcome, request_.objective)) still_good.push_back(points[at]);
          ++at;
        }
      }
      points = std::move(still_good);
    }
    return {};
  }

  [[nodiscard]] bool fails_alike() const {
    const auto count = run_.trials.size();
    // A batch may go past the number.
    if (request_.keep_going || count < kAlikeFailures || count >= kAlikeFailures + spread_.width()) return false;
    const auto& first = run_.trials.front().outcome;
    return std::all_of(run_.trials.begin(), run_.trials.end(), [&](const SweepTrial& trial) {
      const auto& outcome = trial.outcome;
      return (outcome.status == TrialStatus::failed || outcome.status == TrialStatus::crashed) && outcome.failure &&
             first.failure && outcome.failure->message == first.failure->message;
    });
  }

  Result<std::optional<schema::SweepOutcome>> stored(const schema::SweepTrialSpec& spec) {
    std::optional<schema::SweepOutcome> none;
    if (!request_.use_store) return none;
    RL_TRY_ASSIGN(auto found, store_.find_outcome<schema::SweepOutcome>(spec.key()));
    if (!found || !answers_for_good(*found, spec.job.timeout_s)) return none;
    if (files_.unchanged(found->files).size() != found->files.size()) return none;
    return found;
  }

  [[nodiscard]] schema::SweepTrialSpec spec_of(const SweepTrial& trial) const {
    return {request_.job, trial.point, trial.repeat, request_.device_id};
  }

  /// Makes the trials, side by side where the slots allow it, and returns their outcomes in order.
  Result<std::vector<schema::SweepOutcome>> make(std::vector<SweepTrial> trials, std::size_t remaining) {
    RL_TRY(check_cancelled(cancelled_));
    if (budget_.is_used_up()) {
      out_of_time_ = messages::sweep_trials_untried(static_cast<std::int64_t>(remaining + trials.size()));
      return base::fail(ErrorCode::timeout, "{}", text_of(out_of_time_, messages::table()));
    }
    Spread::Steps<SweepTrial> steps;
    steps.begin = [&](SweepTrial& trial, std::size_t n) -> Result<std::optional<schema::SweepOutcome>> {
      frame_.place(trial, spec_of(trial).key(), n);
      observer_.trial_started(trial, remaining);
      RL_TRY_ASSIGN(auto known, stored(spec_of(trial)));
      trial.cached = known.has_value();
      return known;
    };
    steps.job = [&](SweepTrial& trial, std::size_t slot) {
      const auto spec = spec_of(trial);
      trial.outcome.files = files_.named_by(spec);  // as they are when it starts
      return execute::command_job(spec, folder_of(fmt::format("trial-{}", trial.id)), time_left_s(), slot);
    };
    steps.keep = [&](SweepTrial& trial, const execute::JobAnswer& answer) -> Result<void> {
      auto files = std::move(trial.outcome.files);
      RL_TRY_ASSIGN(trial.outcome, execute::command_outcome(answer));
      check_objective(trial.outcome);
      trial.outcome.files = files_.unchanged(std::move(files));
      return store_.save_outcome(store::kCommandKind, trial.key,
                                 {{"command", request_.job.command}, {"point", trial.point}}, trial.outcome);
    };
    steps.finish = [&](SweepTrial trial) {
      run_.trials.push_back(std::move(trial));
      observer_.trial_finished(run_, run_.trials.back());
      return frame_.save_when_due();
    };
    return spread_.make(std::move(trials), remaining, steps);
  }

  [[nodiscard]] std::filesystem::path folder_of(const std::string& name) const {
    return std::filesystem::path(run_.folder) / name;
  }

  /// The command of the first combination, in folders of its own.
  [[nodiscard]] Spread::Check interference_check() {
    Spread::Check check;
    check.job = [this](std::size_t slot) {
      const SweepTrial trial{.point = points_of_first()};
      return execute::command_job(spec_of(trial), folder_of(fmt::format("check-{}", ++checks_)), time_left_s(), slot);
    };
    check.cost = [this](const execute::JobAnswer& answer) -> Result<std::optional<double>> {
      RL_TRY_ASSIGN(const auto outcome, execute::command_outcome(answer));
      const auto number = outcome.metrics.find(request_.objective.metric);
      const bool has_ratio = number != outcome.metrics.end() && number->second > 0;
      return analysis::sweep_cost(outcome, has_ratio ? request_.objective : schema::SweepObjective{});
    };
    return check;
  }

  /// A trial that does not tell what is compared has failed.
  void check_objective(schema::SweepOutcome& outcome) const {
    if (outcome.status != TrialStatus::ok || analysis::sweep_cost(outcome, request_.objective)) return;
    const auto& metric = request_.objective.metric;
    outcome.status = TrialStatus::failed;
    outcome.failure.emplace();
    outcome.failure->phase = schema::TrialPhase::measure;
    outcome.failure->exit_code = 0;
    std::vector<std::string> names;
    for (const auto& [name, value] : outcome.metrics) names.push_back(name);
    outcome.failure->message =
        messages::objective_not_reported({.metric = metric, .near = base::nearest_name(metric, names)});
  }

  execute::Executor& executor_;
  store::Store& store_;
  SweepObserver& observer_;
  const std::function<bool()>& cancelled_;
  const SweepRequest& request_;
  SweepFiles files_;
  int checks_ = 0;
  schema::SweepRun run_;
  schema::Message out_of_time_;  ///< what --max-time had no room for
  std::map<SweepPoint, double> costs_;
  std::map<SweepPoint, double> numbers_;  ///< of the objective
  Budget budget_;
  Spread spread_;
  RunFrame<schema::SweepRun> frame_;
};

}  // namespace

SweepCampaign::SweepCampaign(execute::Executor& executor, store::Store& store, SweepObserver& observer,
                             std::function<bool()> cancelled)
    : executor_(executor), store_(store), observer_(observer), cancelled_(std::move(cancelled)) {}

Result<schema::SweepRun> SweepCampaign::run(const SweepRequest& request) {
  return RunningSweep(executor_, store_, observer_, cancelled_, request).go();
}

}  // namespace ridgeline::campaign
