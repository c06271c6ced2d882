// SPDX-License-Identifier: Apache-2.0
#include "analysis/load_curve.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/constraint_check.hpp"

namespace ridgeline::analysis {
namespace {

bool is_abandoned(const RankedTrial& ranked) {
  return ranked.outcome->measurement->stop_reason == schema::StopReason::abandoned;
}

bool is_latency_limit(const schema::Constraint& constraint) {
  return constraint.at_most && constraint.metric.rfind("latency_", 0) == 0;
}

/// Whether a trial keeps the constraints about latency, or all others.
bool keeps(const RankedTrial& ranked, const schema::TuneRun& run, bool about_latency) {
  return std::none_of(run.constraints.begin(), run.constraints.end(), [&](const auto& constraint) {
    return is_latency_limit(constraint) == about_latency &&
           broken_constraint(constraint, *ranked.outcome->measurement, ranked.summary);
  });
}

std::optional<double> memory_of(const RankedTrial& ranked) {
  return metric_value(*ranked.outcome->measurement, ranked.summary, "gpu_memory_gb");
}

/// The trial of the largest `value` (nullopt: out of the question); of equal ones the first.
template <typename Value>
const RankedTrial* best_by(const std::vector<const RankedTrial*>& trials, Value value) {
  const RankedTrial* best = nullptr;
  double highest = 0;
  for (const auto* ranked : trials) {
    const std::optional<double> one = value(*ranked);
    if (!one || (best != nullptr && *one <= highest)) continue;
    best = ranked;
    highest = *one;
  }
  return best;
}

std::vector<int> front_of(const std::vector<LoadPoint>& points) {
  std::vector<const RankedTrial*> order;
  for (const auto& point : points)
    if (point.ranked != nullptr) order.push_back(point.ranked);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::tuple(a->summary.median_ns, -a->summary.throughput_per_s) <
           std::tuple(b->summary.median_ns, -b->summary.throughput_per_s);
  });
  std::vector<int> front;
  double highest = 0;
  for (const auto* ranked : order) {
    if (ranked->summary.throughput_per_s <= highest) continue;
    highest = ranked->summary.throughput_per_s;
    front.push_back(ranked->trial->id);
  }
  return front;
}

void answer(LoadCurve& curve, const schema::TuneRun& run, const std::vector<RankedTrial>& ranking) {
  std::vector<const RankedTrial*> all;
  std::vector<const RankedTrial*> limited;
  for (const auto& ranked : ranking) {
    if (is_abandoned(ranked) || !keeps(ranked, run, false)) continue;
    all.push_back(&ranked);
    if (keeps(ranked, run, true)) limited.push_back(&ranked);
  }
  const auto rate = [](const RankedTrial& ranked) { return std::optional(ranked.summary.throughput_per_s); };
  curve.highest_throughput = best_by(all, rate);
  curve.lowest_latency =
      best_by(all, [](const RankedTrial& ranked) { return std::optional(-ranked.summary.median_ns); });
  curve.has_latency_limit = std::any_of(run.constraints.begin(), run.constraints.end(), is_latency_limit);
  if (curve.has_latency_limit) curve.within_limit = best_by(limited, rate);
  curve.per_gb = best_by(all, [](const RankedTrial& ranked) {
    const auto memory = memory_of(ranked);
    return memory && *memory > 0 ? std::optional(ranked.summary.throughput_per_s / *memory) : std::nullopt;
  });
}

}  // namespace

std::int64_t in_flight(const schema::Configuration& configuration) {
  return configuration.get_or("parallel_sessions", 1).as_integer(1) *
         configuration.get_or("concurrent_runs", 1).as_integer(1);
}

LoadCurve load_curve(const schema::TuneRun& run, const OutcomesByKey& outcomes,
                     const std::vector<RankedTrial>& ranking) {
  std::map<int, const RankedTrial*> ranked_by_id;
  for (const auto& ranked : ranking) ranked_by_id.emplace(ranked.trial->id, &ranked);
  const auto described = run.model.batch_axis_size.value_or(1);
  std::map<std::pair<std::int64_t, std::int64_t>, LoadPoint> points;  // by sessions, batch
  std::set<std::int64_t> batches;
  std::set<std::int64_t> sessions;
  for (const auto& trial : run.trials) {
    const auto at = outcomes.find(trial.key);
    if (at == outcomes.end()) continue;
    LoadPoint point;
    point.batch = trial.configuration.get_or("batch_size", described).as_integer(1);
    point.sessions = in_flight(trial.configuration);
    point.trial = &trial;
    point.outcome = &at->second;
    const auto found = ranked_by_id.find(trial.id);
    // A trial cut short says too little of its load; another trial of the same key stands for this one.
    if (found != ranked_by_id.end() && !is_abandoned(*found->second)) point.ranked = found->second;
    if (point.ranked == nullptr && at->second.status == schema::TrialStatus::ok) continue;
    if (point.ranked != nullptr) point.memory_gb = memory_of(*point.ranked);
    batches.insert(point.batch);
    sessions.insert(point.sessions);
    auto& place = points[{point.sessions, point.batch}];
    const auto rate = [](const LoadPoint& one) {
      return one.ranked != nullptr ? one.ranked->summary.throughput_per_s : 0;
    };
    // Of a load whose trials all fail, running out of memory tells most.
    const bool tells_more = place.ranked == nullptr && point.outcome->status == schema::TrialStatus::out_of_memory &&
                            place.outcome != nullptr && place.outcome->status != schema::TrialStatus::out_of_memory;
    if (place.trial == nullptr || rate(point) > rate(place) || tells_more) place = point;
  }
  LoadCurve curve;
  if (batches.size() < 2 && sessions.size() < 2) return curve;
  for (const auto& [load, point] : points) curve.points.push_back(point);
  curve.front = front_of(curve.points);
  answer(curve, run, ranking);
  return curve;
}

}  // namespace ridgeline::analysis
