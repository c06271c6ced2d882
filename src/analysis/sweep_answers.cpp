// SPDX-License-Identifier: Apache-2.0
#include "analysis/sweep_answers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/comparison.hpp"
#include "stats/mean.hpp"

namespace ridgeline::analysis {
namespace {

using schema::SweepAnswers;
using schema::SweepPoint;
using schema::SweepRun;
using schema::SweepSummary;
using stats::Estimate;

constexpr double kAlpha = 0.05;

struct Point {
  SweepSummary summary;
  std::map<int, double> log_cost;  ///< by round
  std::vector<double> values;
  std::map<std::string, std::vector<double>> metrics;
};

Estimate mean_with_interval(const std::vector<double>& values) {
  Estimate out;
  out.value = out.low = out.high = stats::mean(values);
  if (values.size() < 2) return out;
  const double half = stats::mean_half_width(values);
  out.low -= half;
  out.high += half;
  return out;
}

double mean_log(const Point& point) {
  double sum = 0;
  for (const auto& [round, value] : point.log_cost) sum += value;
  return sum / static_cast<double>(std::max<std::size_t>(1, point.log_cost.size()));
}

int rank_in_lists(const SweepPoint& point, const std::vector<schema::SweepParam>& parameters) {
  int rank = 0;
  for (const auto& param : parameters) {
    const auto value = point.find(param.name);
    if (value == point.end()) continue;
    const auto at = std::find(param.values.begin(), param.values.end(), value->second);
    rank += static_cast<int>(at - param.values.begin());
  }
  return rank;
}

std::vector<Point> points_of(const SweepRun& run) {
  std::vector<Point> points;
  std::map<SweepPoint, std::size_t> index;
  for (const auto& trial : run.trials) {
    if (trial.stage == schema::SweepStage::warmup) continue;
    const auto [at, is_new] = index.emplace(trial.point, points.size());
    if (is_new) {
      points.emplace_back();
      points.back().summary.point = trial.point;
      points.back().summary.rank_in_lists = rank_in_lists(trial.point, run.job.parameters);
    }
    auto& point = points[at->second];
    const auto cost = sweep_cost(trial.outcome, run.objective);
    if (!cost) {
      ++point.summary.failed;
      continue;
    }
    point.summary.trials.push_back(trial.id);
    point.log_cost[trial.repeat] = std::log(*cost);
    point.values.push_back(trial.outcome.metrics.at(run.objective.metric));
    for (const auto& [name, value] : trial.outcome.metrics) point.metrics[name].push_back(value);
  }
  for (auto& point : points) {
    point.summary.objective = mean_with_interval(point.values);
    for (const auto& [name, values] : point.metrics) point.summary.metrics[name] = stats::mean(values);
  }
  return points;
}

bool sound(const Point& point) { return point.summary.failed == 0 && !point.log_cost.empty(); }

/// The noise that all combinations share, from those measured in every round.
struct Noise {
  double variance = 0;  ///< of one log cost
  double degrees = 0;   ///< 0: nothing was repeated
};

Noise noise_of(const std::vector<Point>& points, std::size_t rounds) {
  std::vector<const Point*> full;
  for (const auto& point : points)
    if (sound(point) && point.log_cost.size() == rounds) full.push_back(&point);
  if (full.empty()) return {};
  std::set<int> common;
  for (const auto& [round, value] : full.front()->log_cost)
    if (std::all_of(full.begin(), full.end(), [&, r = round](const Point* p) { return p->log_cost.count(r) != 0; }))
      common.insert(round);
  if (common.size() < 2) return {};
  const auto count = static_cast<double>(full.size());
  const auto depth = static_cast<double>(common.size());
  std::map<int, double> round_mean;
  double grand = 0;
  for (const int round : common) {
    for (const auto* point : full) round_mean[round] += point->log_cost.at(round) / count;
    grand += round_mean[round] / depth;
  }
  double squares = 0;
  for (const auto* point : full) {
    double own = 0;
    for (const int round : common) own += point->log_cost.at(round) / depth;
    for (const int round : common) {
      // With a single combination a round's mean is its value: no layout, plain scatter.
      const double expected = full.size() > 1 ? own + round_mean[round] - grand : own;
      squares += (point->log_cost.at(round) - expected) * (point->log_cost.at(round) - expected);
    }
  }
  const double degrees = (full.size() > 1 ? count - 1 : 1) * (depth - 1);
  return {squares / degrees, degrees};
}

/// How many times `best`'s cost this one's is. Unpaired where they share no round.
Estimate compare(const Point& point, const Point& best, const Noise& noise, std::size_t comparisons) {
  std::vector<double> differences;
  for (const auto& [round, value] : point.log_cost)
    if (const auto other = best.log_cost.find(round); other != best.log_cost.end())
      differences.push_back(value - other->second);
  const double mean = differences.empty() ? mean_log(point) - mean_log(best) : stats::mean(differences);
  Estimate out;
  out.value = std::exp(mean);
  if (noise.degrees <= 0) {
    out.low = 1 / kUnbounded;
    out.high = kUnbounded;
    return out;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, differences.size()));
  const double own = differences.size() > 1 ? stats::variance(differences) / count : 0;
  const double error = std::sqrt(std::max(2 * noise.variance / count, own));
  const double half = stats::student_half_width(noise.degrees, 1 - kAlpha / static_cast<double>(comparisons)) * error;
  out.low = std::max(std::exp(mean - half), 1 / kUnbounded);
  out.high = std::min(std::exp(mean + half), kUnbounded);
  return out;
}

std::vector<schema::SweepEffect> effects_of(const SweepRun& run, const std::vector<SweepSummary>& points) {
  if (static_cast<double>(points.size()) < run.space_size) return {};
  if (std::any_of(points.begin(), points.end(), [](const auto& point) { return point.trials.empty(); })) return {};
  std::vector<schema::SweepEffect> out;
  for (const auto& param : run.job.parameters) {
    if (param.values.size() < 2) continue;
    schema::SweepEffect effect{param.name, {}};
    for (const auto& value : param.values) {
      double sum = 0;
      double count = 0;
      for (const auto& point : points) {
        if (point.point.at(param.name) != value || !point.behind) continue;
        sum += std::log(point.behind->value);
        count += 1;
      }
      effect.values.emplace_back(value, count > 0 ? std::exp(sum / count) : 1);
    }
    double least = effect.values.front().second;
    for (const auto& [value, cost] : effect.values) least = std::min(least, cost);
    for (auto& [value, cost] : effect.values) cost /= least;
    out.push_back(std::move(effect));
  }
  return out;
}

SweepPoint first_point(const SweepRun& run) {
  SweepPoint out;
  for (const auto& param : run.job.parameters) out[param.name] = param.values.front();
  return out;
}

}  // namespace

std::optional<double> sweep_cost(const schema::SweepOutcome& outcome, const schema::SweepObjective& objective) {
  if (outcome.status != schema::TrialStatus::ok) return std::nullopt;
  const auto found = outcome.metrics.find(objective.metric);
  if (found == outcome.metrics.end() || !(found->second > 0) || !std::isfinite(found->second)) return std::nullopt;
  return objective.maximize ? 1 / found->second : found->second;
}

std::vector<SweepSummary> summarize_sweep(const SweepRun& run) {
  auto points = points_of(run);
  std::size_t rounds = 0;
  std::size_t rivals = 0;
  for (const auto& point : points) {
    if (!sound(point)) continue;
    rounds = std::max(rounds, point.log_cost.size());
    ++rivals;
  }
  const Point* best = nullptr;
  for (const auto& point : points)
    if (sound(point) && point.log_cost.size() == rounds && (best == nullptr || mean_log(point) < mean_log(*best)))
      best = &point;
  if (best != nullptr) {
    const auto noise = noise_of(points, rounds);
    // The best was picked for its number, so every pair may have been the one that is compared.
    const auto comparisons = std::max<std::size_t>(1, rivals * (rivals - 1) / 2);
    for (auto& point : points) {
      if (point.log_cost.empty()) continue;
      auto& summary = point.summary;
      if (&point == best) {
        summary.behind = Estimate{1, 1, 1};
        summary.tie = true;
        continue;
      }
      summary.behind = compare(point, *best, noise, comparisons);
      const auto& behind = *summary.behind;
      // judge() calls above 1 better; a ratio of costs above 1 is worse.
      summary.tie = noise.degrees > 0 && sound(point) &&
                    judge(behind.value, behind.low, behind.high, run.min_effect) != schema::Verdict::faster;
    }
  }
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    if (sound(a) != sound(b)) return sound(a);
    if (a.log_cost.empty() != b.log_cost.empty()) return !a.log_cost.empty();
    return a.summary.behind && b.summary.behind && a.summary.behind->value < b.summary.behind->value;
  });
  std::vector<SweepSummary> out;
  for (auto& point : points) out.push_back(std::move(point.summary));
  return out;
}

std::optional<SweepAnswers> answer_sweep(const SweepRun& run, const std::vector<SweepSummary>& points) {
  // One that was measured once may look better than the best of those that were repeated.
  const auto best = std::find_if(points.begin(), points.end(), [](const auto& point) {
    return point.tie && point.behind && point.behind->low == 1 && point.behind->high == 1;
  });
  if (best == points.end()) return std::nullopt;
  SweepAnswers out;
  out.best = best->point;
  out.proven = best->trials.size() > 1;
  const SweepSummary* chosen = &*best;
  for (const auto& point : points) {
    if (!point.tie || !point.behind || point.behind->value > 1 + run.tolerance) continue;
    if (point.rank_in_lists < chosen->rank_in_lists) chosen = &point;
  }
  out.recommended = chosen->point;
  // A tie this far behind is one for want of measurements.
  const bool undecided = std::any_of(points.begin(), points.end(), [&](const auto& point) {
    return point.tie && point.behind && point.behind->value > 1 + run.tolerance;
  });
  const auto ties = std::count_if(points.begin(), points.end(), [](const auto& point) { return point.tie; });
  if (!out.proven)
    out.reason = "the best of single measurements; with --repeat 3 differences are distinguished from noise";
  else if (std::count_if(points.begin(), points.end(), [](const auto& point) { return point.behind.has_value(); }) == 1)
    out.reason = points.size() == 1 ? "there is no other one" : "the only one that went well";
  else if (chosen == &*best && ties == 1)
    out.reason = "better than every other one";
  else if (chosen == &*best)
    out.reason = fmt::format(
        "cannot be distinguished from {} other{}, and none of those close to it stands earlier in the lists", ties - 1,
        ties == 2 ? "" : "s");
  else
    out.reason = fmt::format(
        "within {:g} % of the best, cannot be distinguished from it, and its values stand earlier in their lists",
        run.tolerance * 100);
  if (out.proven && undecided) out.reason += "; more rounds (--repeat) would tell more of them apart";
  const auto first = first_point(run);
  const auto start =
      std::find_if(points.begin(), points.end(), [&](const auto& point) { return point.point == first; });
  if (start != points.end() && start->behind && chosen->point != first) {
    const double own = chosen->behind->value;
    out.gain = Estimate{start->behind->value / own, start->behind->low / own, start->behind->high / own};
    if (!out.proven) out.gain->low = out.gain->high = out.gain->value;
  }
  out.effects = effects_of(run, points);
  return out;
}

}  // namespace ridgeline::analysis
