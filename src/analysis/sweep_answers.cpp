// SPDX-License-Identifier: Apache-2.0
#include "analysis/sweep_answers.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/comparison.hpp"
#include "analysis/messages.hpp"
#include "stats/mean.hpp"

namespace ridgeline::analysis {
namespace {

using schema::SweepAnswers;
using schema::SweepPoint;
using schema::SweepRun;
using schema::SweepSummary;
using stats::Estimate;

constexpr double kAlpha = 0.05;
constexpr double kUnboundedDifference = 1e300;

struct Point {
  SweepSummary summary;
  std::map<int, double> cost;  ///< by round; its logarithm where ratios are compared
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

double mean_cost(const Point& point) {
  double sum = 0;
  for (const auto& [round, value] : point.cost) sum += value;
  return sum / static_cast<double>(std::max<std::size_t>(1, point.cost.size()));
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

std::optional<double> number_of(const schema::SweepOutcome& outcome, const schema::SweepObjective& objective) {
  if (outcome.status != schema::TrialStatus::ok) return std::nullopt;
  const auto found = outcome.metrics.find(objective.metric);
  if (found == outcome.metrics.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

/// How costs are compared: as ratios of their logarithms' differences, or as differences.
struct Scale {
  bool differences = false;

  [[nodiscard]] double cost(double number, bool maximize) const {
    const double plain = differences ? number : std::log(number);
    return maximize ? -plain : plain;
  }
  [[nodiscard]] double shown(double difference) const { return differences ? difference : std::exp(difference); }
  /// What equals the best.
  [[nodiscard]] double even() const { return differences ? 0 : 1; }
  [[nodiscard]] double least() const { return differences ? -kUnboundedDifference : 1 / kUnbounded; }
  [[nodiscard]] double most() const { return differences ? kUnboundedDifference : kUnbounded; }
};

std::vector<Point> points_of(const SweepRun& run, const Scale& scale) {
  std::vector<Point> points;
  std::map<SweepPoint, std::size_t> index;
  for (const auto& trial : run.trials) {
    if (trial.stage == schema::SweepStage::warmup) continue;
    const auto [at, is_new] = index.emplace(trial.point, points.size());
    if (is_new) {
      points.emplace_back();
      points.back().summary.point = trial.point;
      points.back().summary.rank_in_lists = rank_in_lists(trial.point, run.request.job.parameters);
    }
    auto& point = points[at->second];
    const auto number = number_of(trial.outcome, run.request.objective);
    if (!number) {
      ++point.summary.failed;
      continue;
    }
    point.summary.trials.push_back(trial.id);
    point.cost[trial.repeat] = scale.cost(*number, run.request.objective.maximize);
    point.values.push_back(*number);
    for (const auto& [name, value] : trial.outcome.metrics) point.metrics[name].push_back(value);
  }
  for (auto& point : points) {
    point.summary.objective = mean_with_interval(point.values);
    for (const auto& [name, values] : point.metrics) point.summary.metrics[name] = stats::mean(values);
  }
  return points;
}

bool sound(const Point& point) { return point.summary.failed == 0 && !point.cost.empty(); }

/// The noise that all combinations share, from those measured in every round.
struct Noise {
  double variance = 0;  ///< of one cost
  double degrees = 0;   ///< 0: nothing was repeated
};

Noise noise_of(const std::vector<Point>& points, std::size_t rounds) {
  std::vector<const Point*> full;
  for (const auto& point : points)
    if (sound(point) && point.cost.size() == rounds) full.push_back(&point);
  if (full.empty()) return {};
  std::set<int> common;
  for (const auto& [round, value] : full.front()->cost)
    if (std::all_of(full.begin(), full.end(), [&, r = round](const Point* p) { return p->cost.count(r) != 0; }))
      common.insert(round);
  if (common.size() < 2) return {};
  const auto count = static_cast<double>(full.size());
  const auto depth = static_cast<double>(common.size());
  std::map<int, double> round_mean;
  double grand = 0;
  for (const int round : common) {
    for (const auto* point : full) round_mean[round] += point->cost.at(round) / count;
    grand += round_mean[round] / depth;
  }
  double squares = 0;
  for (const auto* point : full) {
    double own = 0;
    for (const int round : common) own += point->cost.at(round) / depth;
    for (const int round : common) {
      // With a single combination a round's mean is its value: no layout, plain scatter.
      const double expected = full.size() > 1 ? own + round_mean[round] - grand : own;
      squares += (point->cost.at(round) - expected) * (point->cost.at(round) - expected);
    }
  }
  const double degrees = (full.size() > 1 ? count - 1 : 1) * (depth - 1);
  return {squares / degrees, degrees};
}

/// How many times `best`'s cost this one's is, or by how much it is above. Unpaired where they share no round.
Estimate compare(const Point& point, const Point& best, const Noise& noise, std::size_t comparisons,
                 const Scale& scale) {
  std::vector<double> differences;
  for (const auto& [round, value] : point.cost)
    if (const auto other = best.cost.find(round); other != best.cost.end())
      differences.push_back(value - other->second);
  const double mean = differences.empty() ? mean_cost(point) - mean_cost(best) : stats::mean(differences);
  Estimate out;
  out.value = scale.shown(mean);
  if (noise.degrees <= 0) {
    out.low = scale.least();
    out.high = scale.most();
    return out;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, differences.size()));
  const double own = differences.size() > 1 ? stats::variance(differences) / count : 0;
  const double error = std::sqrt(std::max(2 * noise.variance / count, own));
  const double half = stats::student_half_width(noise.degrees, 1 - kAlpha / static_cast<double>(comparisons)) * error;
  out.low = std::max(scale.shown(mean - half), scale.least());
  out.high = std::min(scale.shown(mean + half), scale.most());
  return out;
}

std::vector<schema::SweepEffect> effects_of(const SweepRun& run, const std::vector<SweepSummary>& points,
                                            const Scale& scale) {
  if (static_cast<double>(points.size()) < run.space_size) return {};
  if (std::any_of(points.begin(), points.end(), [](const auto& point) { return point.trials.empty(); })) return {};
  std::vector<schema::SweepEffect> out;
  for (const auto& param : run.request.job.parameters) {
    if (param.values.size() < 2) continue;
    schema::SweepEffect effect{param.name, {}};
    for (const auto& value : param.values) {
      double sum = 0;
      double count = 0;
      for (const auto& point : points) {
        if (point.point.at(param.name) != value || !point.behind) continue;
        sum += scale.cost(point.behind->value, false);
        count += 1;
      }
      effect.values.emplace_back(value, count > 0 ? scale.shown(sum / count) : scale.even());
    }
    double least = effect.values.front().second;
    for (const auto& [value, cost] : effect.values) least = std::min(least, cost);
    for (auto& [value, cost] : effect.values) cost = scale.differences ? cost - least : cost / least;
    out.push_back(std::move(effect));
  }
  return out;
}

SweepPoint first_point(const SweepRun& run) {
  SweepPoint out;
  for (const auto& param : run.request.job.parameters) out[param.name] = param.values.front();
  return out;
}

}  // namespace

std::optional<double> sweep_cost(const schema::SweepOutcome& outcome, const schema::SweepObjective& objective) {
  const auto number = number_of(outcome, objective);
  if (!number) return std::nullopt;
  if (*number > 0) return objective.maximize ? 1 / *number : *number;
  // Behind every positive number where more is better, in front of them where less is.
  constexpr double kBeyond = 1e150;
  return objective.maximize ? kBeyond * (1 - *number) : 1 / (kBeyond * (1 - *number));
}

bool compares_differences(const SweepRun& run) {
  return std::any_of(run.trials.begin(), run.trials.end(), [&](const schema::SweepTrial& trial) {
    const auto number = number_of(trial.outcome, run.request.objective);
    return trial.stage != schema::SweepStage::warmup && number && *number <= 0;
  });
}

std::vector<SweepSummary> summarize_sweep(const SweepRun& run) {
  const Scale scale{compares_differences(run)};
  auto points = points_of(run, scale);
  std::size_t rounds = 0;
  std::size_t rivals = 0;
  for (const auto& point : points) {
    if (!sound(point)) continue;
    rounds = std::max(rounds, point.cost.size());
    ++rivals;
  }
  const Point* best = nullptr;
  for (const auto& point : points)
    if (sound(point) && point.cost.size() == rounds && (best == nullptr || mean_cost(point) < mean_cost(*best)))
      best = &point;
  if (best != nullptr) {
    const auto noise = noise_of(points, rounds);
    // The best was picked for its number, so every pair may have been the one that is compared.
    const auto comparisons = std::max<std::size_t>(1, rivals * (rivals - 1) / 2);
    for (auto& point : points) {
      if (point.cost.empty()) continue;
      auto& summary = point.summary;
      if (&point == best) {
        summary.behind = Estimate{scale.even(), scale.even(), scale.even()};
        summary.tie = true;
        continue;
      }
      summary.behind = compare(point, *best, noise, comparisons, scale);
      const auto& behind = *summary.behind;
      // judge() calls above 1 better; a ratio of costs above 1 is worse.
      const double shift = 1 - scale.even();
      summary.tie = noise.degrees > 0 && sound(point) &&
                    judge(behind.value + shift, behind.low + shift, behind.high + shift, run.request.min_effect) !=
                        schema::Verdict::faster;
    }
  }
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    if (sound(a) != sound(b)) return sound(a);
    if (a.cost.empty() != b.cost.empty()) return !a.cost.empty();
    return a.summary.behind && b.summary.behind && a.summary.behind->value < b.summary.behind->value;
  });
  std::vector<SweepSummary> out;
  for (auto& point : points) out.push_back(std::move(point.summary));
  return out;
}

std::optional<SweepAnswers> answer_sweep(const SweepRun& run, const std::vector<SweepSummary>& points) {
  const Scale scale{compares_differences(run)};
  // One that was measured once may look better than the best of those that were repeated.
  const auto best = std::find_if(points.begin(), points.end(), [&](const auto& point) {
    return point.tie && point.behind && point.behind->low == scale.even() && point.behind->high == scale.even();
  });
  if (best == points.end()) return std::nullopt;
  SweepAnswers out;
  out.best = best->point;
  out.proven = best->trials.size() > 1;
  const SweepSummary* chosen = &*best;
  for (const auto& point : points) {
    if (!point.tie || !point.behind || point.behind->value > scale.even() + run.request.tolerance) continue;
    if (point.rank_in_lists < chosen->rank_in_lists) chosen = &point;
  }
  out.recommended = chosen->point;
  // A tie this far behind is one for want of measurements.
  const bool undecided = std::any_of(points.begin(), points.end(), [&](const auto& point) {
    return point.tie && point.behind && point.behind->value > scale.even() + run.request.tolerance;
  });
  const auto ties = std::count_if(points.begin(), points.end(), [](const auto& point) { return point.tie; });
  if (!out.proven)
    out.reason = messages::sweep_of_single_measurements();
  else if (std::count_if(points.begin(), points.end(), [](const auto& point) { return point.behind.has_value(); }) == 1)
    out.reason = points.size() == 1 ? messages::sweep_only_one() : messages::sweep_only_good_one();
  else if (chosen == &*best && ties == 1)
    out.reason = messages::sweep_better_than_all();
  else if (chosen == &*best)
    out.reason = messages::sweep_first_of_ties(ties - 1);
  else if (scale.differences)
    out.reason = messages::sweep_earlier_tie({.difference = run.request.tolerance});
  else
    out.reason = messages::sweep_earlier_tie({.share = run.request.tolerance});
  if (out.proven && undecided) out.reason = messages::sweep_more_rounds(out.reason);
  const auto first = first_point(run);
  const auto start =
      std::find_if(points.begin(), points.end(), [&](const auto& point) { return point.point == first; });
  if (start != points.end() && start->behind && chosen->point != first) {
    const double own = chosen->behind->value;
    const auto& then = *start->behind;
    out.gain = scale.differences ? Estimate{then.value - own, then.low - own, then.high - own}
                                 : Estimate{then.value / own, then.low / own, then.high / own};
    if (!out.proven) out.gain->low = out.gain->high = out.gain->value;
  }
  out.effects = effects_of(run, points, scale);
  return out;
}

}  // namespace ridgeline::analysis
