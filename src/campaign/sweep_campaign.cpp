// SPDX-License-Identifier: Apache-2.0
#include "campaign/sweep_campaign.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/sweep_answers.hpp"
#include "base/text.hpp"
#include "campaign/run_id.hpp"
#include "campaign/save_pace.hpp"
#include "campaign/sweep_files.hpp"
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

/// A parameter's first value is the space's default; the others are told by their place in the list, as a number where
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
  RunningSweep(execute::SweepExecutor& executor, store::Store& store, SweepObserver& observer,
               const std::function<bool()>& cancelled, const SweepRequest& request)
      : executor_(executor), store_(store), observer_(observer), cancelled_(cancelled), request_(request) {}

  Result<schema::SweepRun> go() {
    begin();
    observer_.started(run_);
    if (auto status = steps(); !status) {
      const auto code = status.error().code;
      if (code != ErrorCode::cancelled && code != ErrorCode::timeout)
        return tl::unexpected<base::Error>(std::move(status).error());
      run_.interrupted = code == ErrorCode::cancelled;
      run_.interruption = std::move(status).error().message;
    }
    run_.points = analysis::summarize_sweep(run_);
    run_.answers = analysis::answer_sweep(run_, run_.points);
    run_.duration_s = elapsed_s();
    run_.finished_utc = base::system_clock().utc_now();
    RL_TRY(store_.save_run(schema::to_run(run_)));
    return std::move(run_);
  }

 private:
  void begin() {
    start_ = executor_.clock().now();
    run_.command_line = request_.command_line;
    run_.started_utc = base::system_clock().utc_now();
    run_.id = make_run_id(base::system_clock(), run_.started_utc, run_.command_line);
    run_.job = request_.job;
    run_.objective = request_.objective;
    run_.search = request_.search;
    run_.repeats = request_.repeats;
    run_.min_effect = request_.min_effect;
    run_.tolerance = request_.tolerance;
    run_.environment = request_.environment;
    run_.device_id = request_.device_id;
    run_.folder = (request_.folder / run_.id).string();
    run_.space_size = space_of(request_.job).raw_size();
  }

  [[nodiscard]] double elapsed_s() const { return base::to_seconds(executor_.clock().now() - start_); }
  [[nodiscard]] std::optional<double> time_left_s() const {
    if (!request_.max_time) return std::nullopt;
    return base::to_seconds(*request_.max_time) - elapsed_s();
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
    while (auto proposal = searcher->propose()) {
      SweepTrial trial;
      trial.point = point_of(proposal->configuration, request_.job);
      trial.reason = request_.search == "adaptive" ? proposal->reason : "";
      const auto ahead = searcher->remaining();
      const auto again =
          request_.search == "adaptive" ? std::min(measured.size() + 1, kMostCandidates) : measured.size() + 1 + ahead;
      RL_TRY_ASSIGN(const auto outcome, make(std::move(trial), ahead + again * rounds));
      const auto cost = analysis::sweep_cost(outcome, request_.objective);
      search::Observation observation;
      observation.cost = cost;
      observation.cost_low = observation.cost_high = cost.value_or(0);
      observation.out_of_memory = outcome.status == TrialStatus::out_of_memory;
      searcher->observe(*proposal, observation);
      if (cost) {
        measured.push_back(run_.trials.back().point);
        costs_[measured.back()] = *cost;
      }
      if (fails_alike()) {
        run_.interruption =
            fmt::format("the first {} trials failed alike; --keep-going tries the others too", kAlikeFailures);
        return {};
      }
    }
    return repeat(request_.search == "adaptive" ? leaders(std::move(measured)) : std::move(measured));
  }

  /// Trials that do not count, where anything is going to be measured.
  Result<void> warm_up(const SweepPoint& point) {
    for (int i = 0; i < request_.warmups; ++i) {
      SweepTrial trial;
      trial.stage = SweepStage::warmup;
      trial.point = point;
      trial.repeat = -1 - i;
      trial.reason = "a warm-up, does not count";
      RL_TRY(make(std::move(trial), 0));
    }
    return {};
  }

  [[nodiscard]] std::vector<SweepPoint> leaders(std::vector<SweepPoint> points) const {
    std::stable_sort(points.begin(), points.end(),
                     [&](const auto& a, const auto& b) { return costs_.at(a) < costs_.at(b); });
    if (points.empty()) return points;
    const double limit = costs_.at(points.front()) * kLeaderMargin;
    const auto first = points_of_first();
    std::vector<SweepPoint> out;
    for (auto& point : points)
      if ((out.size() < kMostCandidates && costs_.at(point) <= limit) || point == first)
        out.push_back(std::move(point));
    return out;
  }

  [[nodiscard]] SweepPoint points_of_first() const { return point_of({}, request_.job); }

  /// Round robin, each round the other way about, so that drift of the machine does not pick the winner.
  Result<void> repeat(std::vector<SweepPoint> points) {
    for (int round = 1; round < request_.repeats; ++round) {
      std::reverse(points.begin(), points.end());
      std::vector<SweepPoint> still_good;
      for (std::size_t i = 0; i < points.size(); ++i) {
        SweepTrial trial;
        trial.stage = SweepStage::repeat;
        trial.point = points[i];
        trial.repeat = round;
        const auto rounds_left = static_cast<std::size_t>(request_.repeats - 1 - round);
        RL_TRY_ASSIGN(const auto outcome, make(std::move(trial), points.size() - i - 1 + rounds_left * points.size()));
        if (analysis::sweep_cost(outcome, request_.objective)) still_good.push_back(points[i]);
      }
      points = std::move(still_good);
    }
    return {};
  }

  [[nodiscard]] bool fails_alike() const {
    if (request_.keep_going || run_.trials.size() != kAlikeFailures) return false;
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

  Result<schema::SweepOutcome> make(SweepTrial trial, std::size_t remaining) {
    if (cancelled_ && cancelled_()) return base::fail(ErrorCode::cancelled, "stopped by a signal");
    const auto left = time_left_s();
    if (left && *left <= 0)
      return base::fail(ErrorCode::timeout, "--max-time: about {} trials were not made", remaining + 1);
    schema::SweepTrialSpec spec;
    spec.job = request_.job;
    spec.point = trial.point;
    spec.repeat = trial.repeat;
    spec.device_id = request_.device_id;
    trial.id = static_cast<int>(run_.trials.size()) + 1;
    trial.key = spec.key();
    trial.started_s = elapsed_s();
    observer_.trial_started(trial, remaining);
    RL_TRY_ASSIGN(auto known, stored(spec));
    if (known) {
      trial.from_store = true;
      trial.outcome = std::move(*known);
    } else {
      auto files = files_.named_by(spec);
      RL_TRY_ASSIGN(trial.outcome,
                    executor_.run(spec, std::filesystem::path(run_.folder) / fmt::format("trial-{}", trial.id), left));
      check_objective(trial.outcome);
      trial.outcome.files = files_.unchanged(std::move(files));
      RL_TRY(store_.save_outcome(store::kCommandKind, trial.key, {{"command", spec.job.command}, {"point", spec.point}},
                                 trial.outcome));
    }
    run_.trials.push_back(std::move(trial));
    observer_.trial_finished(run_, run_.trials.back());
    RL_TRY(save_pace_.when_due([&] { return store_.save_run(schema::to_run(run_)); }));
    return run_.trials.back().outcome;
  }

  /// A trial that does not tell what is compared has failed.
  void check_objective(schema::SweepOutcome& outcome) const {
    if (outcome.status != TrialStatus::ok || analysis::sweep_cost(outcome, request_.objective)) return;
    const auto& metric = request_.objective.metric;
    const auto found = outcome.metrics.find(metric);
    outcome.status = TrialStatus::failed;
    outcome.failure.emplace();
    outcome.failure->phase = schema::TrialPhase::measure;
    outcome.failure->exit_code = 0;
    if (found != outcome.metrics.end()) {
      outcome.failure->message = fmt::format(
          "{} is {:g}, expected a number above 0: combinations are compared by ratios", metric, found->second);
      return;
    }
    std::vector<std::string> names;
    for (const auto& [name, value] : outcome.metrics) names.push_back(name);
    const auto near = base::did_you_mean(metric, names);
    outcome.failure->message = fmt::format("ended well, but did not tell {}", metric);
    outcome.failure->hint =
        !near.empty() ? near
                      : fmt::format("write \"{} NUMBER\" to $RIDGELINE_METRICS_FILE, or name it with --metric", metric);
  }

  execute::SweepExecutor& executor_;
  store::Store& store_;
  SweepObserver& observer_;
  const std::function<bool()>& cancelled_;
  const SweepRequest& request_;
  SweepFiles files_;
  schema::SweepRun run_;
  std::map<SweepPoint, double> costs_;
  base::Nanoseconds start_{0};
  SavePace save_pace_{base::system_clock()};
};

}  // namespace

SweepCampaign::SweepCampaign(execute::SweepExecutor& executor, store::Store& store, SweepObserver& observer,
                             std::function<bool()> cancelled)
    : executor_(executor), store_(store), observer_(observer), cancelled_(std::move(cancelled)) {}

Result<schema::SweepRun> SweepCampaign::run(const SweepRequest& request) {
  return RunningSweep(executor_, store_, observer_, cancelled_, request).go();
}

}  // namespace ridgeline::campaign
