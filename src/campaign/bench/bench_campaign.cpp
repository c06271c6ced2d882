// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/bench_campaign.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "analysis/bench_answers.hpp"
#include "analysis/bench_experiments.hpp"
#include "analysis/bench_rules.hpp"
#include "analysis/lost_loss.hpp"
#include "base/text.hpp"
#include "campaign/bench/bench_notes.hpp"
#include "campaign/bench/bench_trials.hpp"
#include "campaign/bench/lever_experiments.hpp"
#include "campaign/bench/training_change.hpp"
#include "campaign/line_of.hpp"
#include "campaign/messages.hpp"
#include "schema/message_renderer.hpp"
#include "schema/messages.hpp"
#include "search/bench_searcher.hpp"
#include "search/searcher.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::Result;
using schema::BenchStage;
using schema::BenchTrial;
using schema::DataMode;
using schema::TrialStatus;

constexpr double kBenchSearchShare = 0.7;     ///< of --max-time; the rest is for repeats, stability run and experiments
constexpr double kSearchAlone = 0.85;         ///< where repeats are all that comes after it
constexpr double kBeforeStabilityRun = 0.85;  ///< search and repeats together, where a stability run comes after them
constexpr double kBeforeShortStabilityRun = 0.92;  ///< likewise, a stability run that nobody asked for
constexpr double kBeforeExperiments = 0.8;         ///< repeats, where experiments and no long stability run come after
constexpr double kMostStabilityShare = 0.85;       ///< ... and the short stability run
constexpr double kMoreWorkersGain = 0.2;           ///< of a doubling, for the next one
constexpr double kLeaderShare = 0.95;              ///< of the best: measured again
constexpr std::size_t kMostRepeated = 4;
constexpr int kRepeats = 2;  ///< rounds, the second in counterbalanced order
constexpr int kMostStabilityRuns = 3;
constexpr double kLongestExperimentS = 15;
constexpr double kLongestStabilityS = 3600;
constexpr int kStabilityRepeat = 1000;  ///< BenchTrial::repeat of stability runs, apart from repeats

/// `others_train`: some settings have a finite loss, so those without are not what is looked for.
search::BenchObservation observation_of(const schema::TrainingOutcome& outcome, bool others_train) {
  search::BenchObservation out;
  out.status = outcome.status;
  if (others_train && outcome.measurement && schema::has_lost_loss(*outcome.measurement))
    out.status = TrialStatus::failed;
  if (!outcome.measurement) return out;
  const auto& measurement = *outcome.measurement;
  const auto& phases = measurement.phases;
  out.samples_per_s = measurement.samples_per_s.value;
  out.phases = {phases.io_wait_ms.value,   phases.h2d_ms.value,  phases.forward_ms.value, phases.backward_ms.value,
                phases.optimizer_ms.value, phases.rest_ms.value, phases.wall_ms.value};
  out.memory_gb = measurement.resources.peak_reserved_gb;
  out.capacity_gb = measurement.resources.device_capacity_gb;
  out.duration_s = outcome.duration_s;
  out.steps = measurement.warmup_steps + measurement.steps + measurement.discarded_steps;
  return out;
}

/// One run under way.
class RunningBench {
 public:
  RunningBench(execute::Executor& executor, store::Store& store, BenchObserver& observer,
               const std::function<bool()>& cancelled, const BenchRequest& request)
      : executor_(executor),
        observer_(observer),
        request_(request),
        answers_{request.tolerance, request.headroom, request.stability_steps, {}},
        trials_(executor, store, observer, cancelled, request, run_) {}

  Result<schema::BenchRun> go() {
    run_.request = request_;
    run_.device = request_.device;
    run_.device_id = request_.device_id;
    run_.origins = request_.origins;
    run_.notes = request_.notes;
    run_.has_current = request_.current.has_value();
    if (request_.current) run_.current = *request_.current;
    RL_TRY_ASSIGN(run_.environment, executor_.environment(0));
    observer_.started(run_);
    auto status = steps();
    if (!status && status.error().code == ErrorCode::cancelled) {
      run_.interrupted = true;
      run_.interruption = messages::stopped_by_signal();
    } else if (!status) {
      return tl::unexpected<base::Error>(std::move(status).error());
    }
    if (run_.interruption.empty() && trials_.all_refused()) return refusal();
    run_.answers = analysis::answer_bench(run_, answers_);
    for (auto& note : closing_notes(run_, request_)) add_note(std::move(note));
    RL_TRY(trials_.end());
    return std::move(run_);
  }

 private:
  [[nodiscard]] bool on_cpu() const { return schema::is_cpu_device(request_.device); }
  [[nodiscard]] bool asked_for_stability_run() const {
    return request_.stability_steps > 0 && !request_.short_stability_s;
  }
  [[nodiscard]] double search_share() const {
    return request_.diagnose || asked_for_stability_run() ? kBenchSearchShare : kSearchAlone;
  }
  [[nodiscard]] double repeats_share() const {
    if (asked_for_stability_run()) return kBeforeStabilityRun;
    if (request_.diagnose) return kBeforeExperiments;
    return request_.stability_steps > 0 ? kBeforeShortStabilityRun : 1;
  }
  /// The time for a stability run that nobody asked for ends before the experiments'.
  [[nodiscard]] double stability_share() const {
    return request_.diagnose && !asked_for_stability_run() ? kMostStabilityShare : 1;
  }
  /// Whether the settings' last trial took longer than there is time, up to that share of --max-time.
  [[nodiscard]] bool too_long(const schema::TrainingSettings& settings, double share) const {
    const auto last = std::find_if(run_.trials.rbegin(), run_.trials.rend(), [&](const BenchTrial& trial) {
      return trial.settings == settings && trial.data == DataMode::loader;
    });
    return last != run_.trials.rend() && last->outcome.duration_s > budget_.left_s(share);
  }

  /// Experiments look for gains of kWorthwhileGain and more, which are seen before the interval is as narrow as asked.
  [[nodiscard]] schema::TrainingPlan experiment_plan() const {
    auto plan = request_.plan;
    plan.max_time_s = std::min(plan.max_time_s, kLongestExperimentS);
    return plan;
  }

  Result<void> steps() {
    RL_TRY(search());
    if (analysis::bench_points(run_).empty()) return {};
    RL_TRY(try_more_workers());
    RL_TRY(repeat_leaders());
    RL_TRY(stability_run());
    return diagnose();
  }

  Result<void> search() {
    observer_.stage("search");
    search::BenchSearchOptions options;
    options.headroom = request_.headroom;
    options.current = request_.current;
    options.on_cpu = on_cpu();
    options.loads = analysis::loads(request_.job);
    options.cores = request_.cores;
    options.plan = request_.plan;
    if (budget_.is_limited()) options.time_s = search_share() * budget_.limit_s();
    RL_TRY_ASSIGN(const auto searcher, search::make_bench_searcher(request_.search, request_.space, options));
    const auto tell_time = [&] {
      if (budget_.is_limited()) searcher->spent(budget_.spent_s() / options.time_s);
    };
    tell_time();
    for (auto batch = search::next_batch(*searcher, trials_.width()); !batch.empty();
         batch = search::next_batch(*searcher, trials_.width())) {
      std::vector<BenchTrial> trials;
      for (const auto& proposal : batch)
        trials.push_back(
            {.stage = proposal.stage, .settings = proposal.settings, .data = proposal.data, .reason = proposal.reason});
      RL_TRY_ASSIGN(const auto outcomes, trials_.make_all(std::move(trials), request_.plan, searcher->remaining()));
      const bool others_train = analysis::some_keep_their_loss(run_);
      for (std::size_t i = 0; i < batch.size(); ++i)
        searcher->observe(batch[i], observation_of(outcomes[i], others_train));
      tell_time();
      run_.skipped = searcher->skipped();
      // Without an answer the search goes on into the time of what would come after it.
      if (budget_.is_used_up(search_share()) && (budget_.is_used_up() || !analysis::bench_points(run_).empty())) {
        const auto untried = static_cast<std::int64_t>(searcher->remaining());
        if (untried > 0) run_.interruption = messages::bench_combinations_untried(untried);
        break;
      }
    }
    run_.skipped = searcher->skipped();
    return {};
  }

  /// Workers that wait gain from more of them than there are CPUs.
  Result<void> try_more_workers() {
    if (!request_.own_workers || !analysis::loads(request_.job)) return {};
    const auto points = analysis::points_that_train(run_);
    const auto fastest = std::max_element(
        points.begin(), points.end(), [](const auto& a, const auto& b) { return a.samples_per_s < b.samples_per_s; });
    const analysis::DiagnosisInput input{fastest->settings, on_cpu(), request_.cores, {}};
    const auto seen = analysis::find_evidence(run_, input.base, DataMode::loader);
    if (!seen || input.base.workers != request_.space.workers.back() || !analysis::waits_for_batches(*seen, input.base))
      return {};
    const auto busy = analysis::busy_workers(*seen, input.base, input);
    if (!busy || *busy >= analysis::kBusyWorkers) return {};
    analysis::WorkerLadder ladder;
    while (!budget_.is_used_up(repeats_share())) {
      ladder = analysis::climb_workers(run_, input, kMoreWorkersGain);
      if (!ladder.next || too_long(input.base, repeats_share())) break;
      auto settings = input.base;
      settings.workers = *ladder.next;
      RL_TRY(trials_.make({.stage = BenchStage::confirm,
                           .settings = settings,
                           .reason = messages::bench_do_more_workers_help(1 - *busy)},
                          request_.plan, 1));
    }
    const int last = ladder.climbed.empty() ? input.base.workers : ladder.climbed.back().workers;
    add_note(messages::bench_more_workers_than_cpus(
        {.workers = input.base.workers,
         .share = 1 - *busy,
         .cpus = request_.cores,
         .best = last > input.base.workers ? std::optional<std::int64_t>(last) : std::nullopt}));
    return {};
  }

  /// The fastest settings once more, in counterbalanced order, so that drift of the machine does not pick the winner.
  Result<void> repeat_leaders() {
    auto points = analysis::points_that_train(run_);
    std::stable_sort(points.begin(), points.end(),
                     [](const auto& a, const auto& b) { return a.samples_per_s > b.samples_per_s; });
    const double floor = kLeaderShare * points.front().samples_per_s;
    points.erase(
        std::remove_if(points.begin(), points.end(), [&](const auto& point) { return point.samples_per_s < floor; }),
        points.end());
    if (points.size() > kMostRepeated) points.resize(kMostRepeated);
    // What will be recommended is often frugal and not among the fastest few.
    const auto answers = analysis::answer_bench(run_, answers_);
    if (answers && answers->recommended) {
      const auto& settings = answers->recommended->settings;
      if (std::none_of(points.begin(), points.end(), [&](const auto& point) { return point.settings == settings; }))
        for (const auto& point : analysis::bench_points(run_))
          if (point.settings == settings) points.push_back(point);
    }
    if (points.size() < 2) return {};
    observer_.stage("leaders again");
    const double share = repeats_share();
    for (int round = 1; round <= kRepeats; ++round) {
      std::reverse(points.begin(), points.end());
      for (std::size_t at = 0; at < points.size();) {
        std::vector<BenchTrial> trials;
        for (; at < points.size() && trials.size() < trials_.width(); ++at)
          if (!budget_.is_used_up(share) && !too_long(points[at].settings, share))
            trials.push_back({.stage = BenchStage::repeat,
                              .settings = points[at].settings,
                              .repeat = round,
                              .reason = messages::bench_leader_again()});
        RL_TRY(trials_.make_all(std::move(trials), request_.plan, points.size() - at));
      }
    }
    return {};
  }

  /// How long a stability run of these settings may be timed for, and why it may not at all.
  struct StabilityTime {
    double s = 0;
    schema::Message too_short;
  };
  [[nodiscard]] StabilityTime stability_time(const schema::TrainingSettings& settings) const {
    StabilityTime out{request_.short_stability_s.value_or(kLongestStabilityS), {}};
    if (!budget_.is_limited()) return out;
    const double left_s = budget_.left_s(stability_share());
    // What starting and warming up take, and a step: as they did in the settings' last trial.
    const auto last = std::find_if(run_.trials.rbegin(), run_.trials.rend(), [&](const BenchTrial& trial) {
      return trial.settings == settings && trial.data == DataMode::loader && trial.outcome.measurement;
    });
    double before_s = 0;
    double step_s = 0;
    if (last != run_.trials.rend()) {
      const auto& walls = last->outcome.measurement->wall_ms;
      const double timed_s = std::accumulate(walls.begin(), walls.end(), 0.0) / 1000;
      before_s = std::max(0.0, last->outcome.duration_s - timed_s);
      if (!walls.empty()) step_s = timed_s / static_cast<double>(walls.size());
    }
    out.s = std::min(out.s, left_s - before_s);
    const auto least = static_cast<double>(std::min(request_.stability_steps, request_.plan.steps));
    if (out.s <= least * step_s)
      out.too_short = left_s <= 0 ? messages::bench_no_time_left()
                                  : messages::bench_too_little_time_left({.left_s = left_s, .steps = least});
    return out;
  }

  Result<void> stability_run() {
    if (request_.stability_steps <= 0) return {};
    observer_.stage("stability run");
    for (int attempt = 0; attempt < kMostStabilityRuns; ++attempt) {
      const auto answers = analysis::answer_bench(run_, answers_);
      if (!answers || !answers->recommended) return {};
      const auto& settings = answers->recommended->settings;
      const bool done = std::any_of(run_.trials.begin(), run_.trials.end(), [&](const auto& trial) {
        return trial.stage == BenchStage::stability_run && trial.settings == settings;
      });
      if (done) return {};
      auto plan = request_.plan;
      plan.steps = request_.stability_steps;
      plan.max_steps = request_.stability_steps;
      plan.max_time_s = kLongestStabilityS;
      BenchTrial trial{.stage = BenchStage::stability_run, .settings = settings, .repeat = kStabilityRepeat};
      trial.reason = messages::bench_stability_run(request_.stability_steps);
      const auto time = stability_time(settings);
      if (!time.too_short.empty() && !trials_.stability_run_before(trial, plan)) {
        answers_.no_stability_run = time.too_short;
        return {};
      }
      RL_TRY(trials_.make(std::move(trial), plan, 1, std::max(0.0, time.s)));
    }
    answers_.no_stability_run = messages::bench_others_had_stability_run(kMostStabilityRuns);
    return {};
  }

  Result<void> diagnose() {
    if (!request_.diagnose) return {};
    std::vector<schema::TrainingSettings> bases;
    const auto answers = analysis::answer_bench(run_, answers_);
    if (answers && answers->recommended) bases.push_back(answers->recommended->settings);
    if (request_.current && std::find(bases.begin(), bases.end(), *request_.current) == bases.end())
      bases.insert(bases.begin(), *request_.current);
    observer_.stage("experiments");
    // Levers that somebody named are the question; else they come after what the diagnosis needs.
    if (request_.levers_by_name) RL_TRY(try_levers(answers));
    for (const auto& base : bases) {
      analysis::DiagnosisInput input{base, on_cpu(), request_.cores, {}};
      while (!budget_.is_used_up()) {
        explain_loader(input);
        const auto open = analysis::open_experiments(run_, input);
        const auto next =
            std::find_if(open.begin(), open.end(), [](const auto& experiment) { return experiment.obstacle.empty(); });
        if (next == open.end()) break;
        RL_TRY(trials_.make(
            {.stage = BenchStage::experiment, .settings = next->settings, .data = next->data, .reason = next->reason()},
            experiment_plan(), open.size()));
        RL_TRY(measure_again(input, true));
      }
      RL_TRY(measure_again(input, false));
      if (budget_.is_used_up()) input.stopped_by = messages::max_time_used_up();
      for (auto& finding : analysis::diagnose_bench(run_, input)) run_.findings.push_back(std::move(finding));
      if (auto note = analysis::not_tried(run_, input); !note.empty()) add_note(std::move(note));
      explain_loader(input);
    }
    return request_.levers_by_name ? Result<void>() : try_levers(answers);
  }

  Result<void> try_levers(const std::optional<schema::BenchAnswers>& answers) {
    if (request_.levers.empty() || !answers || !answers->recommended) return {};
    return LeverExperiments(trials_, request_, run_).run(answers->recommended->settings);
  }

  /// Once, where steps wait for their batches: what makes a sample dear, or that it was not looked into.
  void explain_loader(const analysis::DiagnosisInput& input) {
    if (explained_ || !request_.explain_loader) return;
    const auto seen = analysis::find_evidence(run_, input.base, DataMode::loader);
    if (!seen || !analysis::waits_for_batches(*seen, input.base)) return;
    explained_ = true;
    if (budget_.is_used_up())
      for (const auto& untried : {messages::bench_transforms_untimed(messages::max_time_used_up()),
                                  messages::bench_worker_waits_untried(messages::max_time_used_up())})
        add_note(untried);
    else
      for (auto& note : request_.explain_loader(input.base, budget_.left_s())) add_note(std::move(note));
  }

  void add_note(schema::Message note) {
    if (std::find(run_.notes.begin(), run_.notes.end(), note) == run_.notes.end())
      run_.notes.push_back(std::move(note));
  }

  /// What was asked for, why none of it is possible, and what to do.
  [[nodiscard]] base::Fault refusal() const {
    const auto& first = run_.trials.front();
    const auto asked = std::find_if(request_.origins.begin(), request_.origins.end(),
                                    [](const auto& origin) { return origin.name == kBatchOrigin; });
    return base::fail(ErrorCode::invalid_argument, "{}: no setting can be trained with, {} was refused: {}",
                      asked == request_.origins.end() ? std::string(kBatchOrigin)
                                                      : fmt::format("{} {} ({})", kBatchOrigin, asked->value,
                                                                    text_of(asked->origin, messages::table())),
                      schema::describe(first.settings, run_.device),
                      first.outcome.failure ? line_of(first.outcome.failure->message) : "")
        .hint("name others");
  }

  Result<void> measure_again(const analysis::DiagnosisInput& input, bool only_if_noisy) {
    while (!budget_.is_used_up() && analysis::needs_another_base(run_, input, only_if_noisy)) {
      BenchTrial trial{.stage = BenchStage::experiment, .settings = input.base};
      for (const auto& made : run_.trials)
        if (made.settings == input.base && made.data == DataMode::loader)
          trial.repeat = std::max(trial.repeat, made.repeat + 1);
      trial.reason = messages::bench_base_again();
      const int before = analysis::find_evidence(run_, input.base, DataMode::loader)->count;
      RL_TRY(trials_.make(std::move(trial), experiment_plan(), 1));
      if (analysis::find_evidence(run_, input.base, DataMode::loader)->count == before) break;  // it failed this time
    }
    return {};
  }

  execute::Executor& executor_;
  BenchObserver& observer_;
  const BenchRequest& request_;
  analysis::AnswerOptions answers_;
  schema::BenchRun run_;
  bool explained_ = false;
  BenchTrials trials_;
  const Budget& budget_ = trials_.budget();
};

}  // namespace

BenchCampaign::BenchCampaign(execute::Executor& executor, store::Store& store, BenchObserver& observer,
                             std::function<bool()> cancelled)
    : executor_(executor), store_(store), observer_(observer), cancelled_(std::move(cancelled)) {}

Result<schema::BenchRun> BenchCampaign::run(const BenchRequest& request) {
  return RunningBench(executor_, store_, observer_, cancelled_, request).go();
}

}  // namespace ridgeline::campaign
