// SPDX-License-Identifier: Apache-2.0
#include "analysis/load_curve.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/constraint_check.hpp"

namespace ridgeline::analysis {
namespace {

bool is_latency_limit(const schema::Constraint& constraint) {
  return constraint.at_most && constraint.metric.rfind("latency_", 0) == 0;
}

/// Whether a trial keeps the constraints about latency, or all others.
bool keeps(const RankedTrial& ranked, const schema::TuneRun& run, bool about_latency) {
  return std::none_of(run.request.constraints.begin(), run.request.constraints.end(), [&](const auto& constraint) {
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
    if (point.ranked != nullptr && point.ranked->meets_constraints) order.push_back(point.ranked);
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
    if (is_stopped_early(ranked) || !keeps(ranked, run, false)) continue;
    all.push_back(&ranked);
    if (keeps(ranked, run, true)) limited.push_back(&ranked);
  }
  const auto rate = [](const RankedTrial& ranked) { return std::optional(ranked.summary.throughput_per_s); };
  curve.highest_throughput = best_by(all, rate);
  curve.lowest_latency =
      best_by(all, [](const RankedTrial& ranked) { return std::optional(-ranked.summary.median_ns); });
  curve.has_latency_limit =
      std::any_of(run.request.constraints.begin(), run.request.constraints.end(), is_latency_limit);
  if (curve.has_latency_limit) curve.within_limit = best_by(limited, rate);
  curve.per_gb = best_by(all, [](const RankedTrial& ranked) {
    const auto memory = memory_of(ranked);
    return memory && *memory > 0 ? std::optional(ranked.summary.throughput_per_s / *memory) : std::nullopt;
  });
}

LoadPoint point_of(const schema::TuneRun& run, const schema::TunedTrial& trial, const schema::TrialOutcome& outcome,
                   const RankedTrial* ranked) {
  LoadPoint point;
  point.batch = trial.configuration.get_or("batch_size", run.model.batch_axis_size.value_or(1)).as_integer(1);
  point.sessions = in_flight(trial.configuration);
  point.trial = &trial;
  point.outcome = &outcome;
  point.ranked = ranked;
  if (ranked != nullptr) point.memory_gb = memory_of(*ranked);
  return point;
}

/// Whether `a` is what to show of its load rather than `b`.
bool tells_more(const LoadPoint& a, const LoadPoint& b) {
  if (a.ranked == nullptr && b.ranked == nullptr)
    // Of a load whose trials all fail, running out of memory tells most.
    return a.outcome->status == schema::TrialStatus::out_of_memory &&
           b.outcome->status != schema::TrialStatus::out_of_memory;
  if (a.ranked == nullptr || b.ranked == nullptr) return a.ranked != nullptr;
  const auto worth = [](const LoadPoint& point) {
    return std::tuple(point.ranked->meets_constraints, point.ranked->summary.throughput_per_s);
  };
  // Both are elements of one ranking, best first, so that a tie goes as the answers' ties do.
  return worth(a) > worth(b) || (worth(a) == worth(b) && a.ranked < b.ranked);
}

/// A point for every answer: it may be slower than its load's best, or faster and over the latency limit.
void add_answers(LoadCurve& curve, const schema::TuneRun& run) {
  for (const auto* ranked : {curve.highest_throughput, curve.lowest_latency, curve.within_limit, curve.per_gb}) {
    auto& points = curve.points;
    if (ranked == nullptr ||
        std::any_of(points.begin(), points.end(), [&](const auto& point) { return point.ranked == ranked; }))
      continue;
    auto point = point_of(run, *ranked->trial, *ranked->outcome, ranked);
    point.best_of_load = false;
    const auto behind = std::upper_bound(points.begin(), points.end(), point, [](const auto& a, const auto& b) {
      return std::tuple(a.sessions, a.batch) < std::tuple(b.sessions, b.batch);
    });
    points.insert(behind, point);
  }
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
  std::map<std::pair<std::int64_t, std::int64_t>, LoadPoint> points;  // by sessions, batch
  std::set<std::int64_t> batches;
  std::set<std::int64_t> sessions;
  for (const auto& trial : run.trials) {
    const auto at = outcomes.find(trial.key);
    if (at == outcomes.end()) continue;
    const auto found = ranked_by_id.find(trial.id);
    // A trial cut short says too little of its load; another trial of the same key stands for this one.
    const bool counts = found != ranked_by_id.end() && !is_stopped_early(*found->second);
    if (!counts && at->second.status == schema::TrialStatus::ok) continue;
    const auto point = point_of(run, trial, at->second, counts ? found->second : nullptr);
    batches.insert(point.batch);
    sessions.insert(point.sessions);
    auto& place = points[{point.sessions, point.batch}];
    if (place.trial == nullptr || tells_more(point, place)) place = point;
  }
  LoadCurve curve;
  if (batches.size() < 2 && sessions.size() < 2) return curve;
  for (const auto& [load, point] : points) curve.points.push_back(point);
  answer(curve, run, ranking);
  add_answers(curve, run);
  curve.front = front_of(curve.points);
  return curve;
}

}  // namespace ridgeline::analysis
