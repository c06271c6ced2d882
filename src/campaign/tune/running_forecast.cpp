// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/running_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "analysis/ranking.hpp"
#include "campaign/tune/pair_plan.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::campaign {

namespace {

constexpr double kFirstTrials = 3;   // before the first forecast, and ...
constexpr double kFirstShare = 0.2;  // ... of all that are likely: the defaults alone show no gain yet
constexpr double kLookAgain = 0.02;  // of the time that has passed
constexpr double kTooShortS = 10;    // that are left: nobody needs a forecast
constexpr double kChanged = 1.5;     // times the forecast before
constexpr double kOfTrial = 4;       // two medians, each twice as exact: their ratio is then as exact as one was
// Comparisons of runs on sixteen simulated machines: four where nothing was faster, else three to ten
// (benchmarks/results/run_time.md).
constexpr double kFinals = 2;
constexpr double kHeadToHeads = 2;
constexpr double kLeftOut = 2;        // of a winner's settings
constexpr double kLeftOutOfNone = 1;  // while nothing is faster yet

}  // namespace

void RunningForecast::look(std::size_t remaining) {
  const auto& trials = result_.run.trials;
  const auto measured = std::count_if(trials.begin(), trials.end(), [](const auto& trial) { return !trial.cached; });
  const auto made = static_cast<double>(measured);
  if (made < std::max(kFirstTrials, kFirstShare * (made + static_cast<double>(remaining)))) return;
  // It ranks all trials, of which a grid may have thousands.
  if (budget_.elapsed_s() < next_look_s_) return;
  next_look_s_ = budget_.elapsed_s() * (1 + kLookAgain);
  const double search_left_s = search_s(remaining);
  const double comparing_s = comparisons_s();
  const double all_s = std::min(budget_.elapsed_s() + search_left_s + comparing_s, budget_.limit_s());
  const bool is_first = !said_s_ && all_s - budget_.elapsed_s() >= kTooShortS;
  const bool is_other = said_s_ && std::max(all_s / *said_s_, *said_s_ / all_s) >= kChanged;
  if (is_first) context_.times.forecast(all_s);
  if (is_first || is_other) said_s_ = all_s;
  observer_.forecast_changed({.all_s = all_s,
                              .search_s = search_left_s,
                              .comparisons_s = comparing_s,
                              .trials = remaining,
                              .is_news = is_first || is_other});
}

double RunningForecast::search_s(std::size_t remaining) const {
  const auto& trials = result_.run.trials;
  const auto measured = std::count_if(trials.begin(), trials.end(), [](const auto& trial) { return !trial.cached; });
  if (measured == 0) return 0;
  const double each_s = context_.times.so_far(&schema::TimeSpent::trials_s) / static_cast<double>(measured);
  const double left_s = std::max(0.0, budget_.plannable_s() - budget_.pair_reserve_s());
  return std::min(static_cast<double>(remaining) * each_s, left_s);
}

double RunningForecast::blocks_s() const {
  const auto& plan = request_.paired;
  std::vector<double> wanted_s;
  for (const auto& ranked : analysis::rank(result_.run, result_.outcomes)) {
    const auto& measured = *ranked.outcome->measurement;
    const auto& interval = ranked.cost.interval;
    if (measured.stop_reason == schema::StopReason::stopped_early || !(ranked.cost.value > 0)) continue;
    const double timed_s = std::accumulate(measured.latency_ns.begin(), measured.latency_ns.end(), 0.0) * 1e-9;
    const double half_width = (interval.high - interval.low) / 2 / ranked.cost.value;
    wanted_s.push_back(kOfTrial * timed_s * std::pow(half_width / plan.target_half_width, 2));
  }
  const double usual_s = wanted_s.empty() ? 0 : stats::quantile(std::move(wanted_s), 0.5);
  return std::clamp(usual_s, plan.min_time_s, std::max(plan.min_time_s, plan.max_time_s));
}

double RunningForecast::pair_s(const schema::Configuration& a, const schema::Configuration& b, bool fresh) const {
  const auto plan = pair_plan(result_, request_.paired, a, b, 1);
  auto least = plan;
  least.max_abba_rounds = least.abba_rounds;
  least.max_time_s = least.min_time_s;
  if (result_.run.on_gpu()) {  // how sessions differ decides there: not at all where the two are far apart
    auto far = least;
    far.max_rounds = far.rounds;
    return (budget_.expected_pair_s(far, fresh, a, b) + budget_.expected_pair_s(plan, fresh, a, b)) / 2;
  }
  auto usual = plan;
  usual.max_time_s = std::min(plan.max_time_s, blocks_s());
  return std::max(budget_.expected_pair_s(least, fresh, a, b), budget_.expected_pair_s(usual, fresh, a, b));
}

double RunningForecast::comparisons_s() const {
  const auto& run = result_.run;
  const auto ranking = analysis::rank(run, result_.outcomes);
  if (request_.finalists == 0 || ranking.empty()) return 0;
  const auto& best = ranking.front().trial->configuration;
  const double final_s = pair_s(run.current, best, request_.fresh_finals);
  if (budget_.is_short() || request_.finalists == 1) return final_s;
  const bool has_gained = std::none_of(ranking.begin(), ranking.end(), [&](const auto& ranked) {
    return ranked.trial->configuration == run.current &&
           ranked.cost.value < ranking.front().cost.value * (1 + run.request.min_effect);
  });
  const double left_out = !request_.leave_one_out ? 0 : has_gained ? kLeftOut : kLeftOutOfNone;
  return kFinals * final_s + (kHeadToHeads + left_out) * pair_s(best, best, false);
}

}  // namespace ridgeline::campaign
