// SPDX-License-Identifier: Apache-2.0
#include "analysis/ranking.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/constraint_check.hpp"
#include "analysis/messages.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::analysis {
namespace {

using schema::Configuration;
using schema::FlagLevel;
using schema::StopReason;
using schema::TrialStatus;

bool is_rankable(const schema::TrialOutcome& outcome) {
  if (outcome.status != TrialStatus::ok || !outcome.measurement || outcome.measurement->latency_ns.empty())
    return false;
  const auto& flags = outcome.measurement->flags;
  return std::none_of(flags.begin(), flags.end(), [](const auto& flag) { return flag.level == FlagLevel::error; });
}

/// What a trial's cost surely does not exceed by chance: an interval that is too wide for a figure proves nothing
/// better than its end, so that such a trial leads nothing.
double sorting_cost(const RankedTrial& ranked) {
  const auto& [low, high] = ranked.cost.interval;
  return stats::is_too_wide(low, high) ? std::max(high, ranked.cost.value) : ranked.cost.value;
}

/// Ranks trials sorted by constraint, then sorting_cost. Of each group the member whose interval ends lowest says who
/// ties: a leader with a wide interval does not make ties of all that follow.
void assign_groups(std::vector<RankedTrial>& ranking, double min_effect) {
  const RankedTrial* leader = nullptr;
  double surely = 0;
  int group = 0;
  for (auto& ranked : ranking) {
    const auto& cost = ranked.cost;
    const bool ties = leader != nullptr && leader->meets_constraints == ranked.meets_constraints &&
                      (cost.interval.low <= surely || cost.value <= leader->cost.value * (1 + min_effect));
    if (!ties) {
      // The first of the constraint breakers never have rank 1, even when nothing meets the constraints.
      group = ranked.meets_constraints ? group + 1 : std::max(group + 1, 2);
      leader = &ranked;
      surely = cost.interval.high;
    }
    surely = std::min(surely, cost.interval.high);
    ranked.rank = group;
  }
}

/// Without the settings that say what the runtime does anyway.
Configuration without_defaults(const Configuration& configuration) {
  auto result = configuration;
  for (const auto& [key, value] : configuration.values()) {
    const auto* param = schema::find_param(key);
    if (param != nullptr && param->default_value == value) result.unset(key);
  }
  return result;
}

/// Of labels, masks and text the output error is the share of elements that differ: two scores that are nearly alike
/// may rank the other way round, and so few elements are all that rounding explains.
constexpr double kFlippedElements = 1e-3;

std::optional<double> type_tolerance(std::string_view element_type) {
  if (element_type == "float" || element_type == "complex64") return 1e-3;
  if (element_type == "float16") return 1e-2;
  if (element_type == "bfloat16") return 5e-2;
  if (element_type == "double" || element_type == "complex128") return 1e-6;
  return std::nullopt;
}

template <typename Predicate>
const schema::TunedPair* highest_finalist(const schema::TuneRun& run, Predicate counts) {
  const schema::TunedPair* best = nullptr;
  for (const auto& pair : run.pairs) {
    if (pair.purpose != schema::PairPurpose::finalist || !pair.comparison || !counts(*pair.comparison)) continue;
    if (best == nullptr || pair.comparison->ratio > best->comparison->ratio) best = &pair;
  }
  return best;
}

}  // namespace

std::vector<RankedTrial> rank(const schema::TuneRun& run, const OutcomesByKey& outcomes) {
  std::vector<RankedTrial> ranking;
  std::set<std::string> seen;
  for (const auto& trial : run.trials) {
    const auto at = outcomes.find(trial.key);
    if (at == outcomes.end() || !is_rankable(at->second) || !seen.insert(trial.key).second) continue;
    RankedTrial ranked;
    ranked.trial = &trial;
    ranked.outcome = &at->second;
    ranked.summary = summarize(*at->second.measurement);
    ranked.measured = ranked.cost = cost_of(*at->second.measurement, run.request.objective);
    if (ranked.cost.value <= 0) continue;
    if (const auto& corrected = trial.corrected) ranked.cost = {corrected->value, {corrected->low, corrected->high}};
    for (const auto& constraint : run.request.constraints) {
      const auto broken = broken_constraint(constraint, *at->second.measurement, ranked.summary);
      if (!broken) continue;
      ranked.meets_constraints = false;
      ranked.broken_constraint = *broken;
      break;
    }
    ranking.push_back(std::move(ranked));
  }
  std::sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) {
    return std::tuple(!a.meets_constraints, sorting_cost(a), a.trial->id) <
           std::tuple(!b.meets_constraints, sorting_cost(b), b.trial->id);
  });
  assign_groups(ranking, run.request.min_effect);
  std::stable_sort(ranking.begin(), ranking.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.rank, is_stopped_early(a)) < std::tuple(b.rank, is_stopped_early(b));
  });
  return ranking;
}

bool is_corrected(const std::vector<RankedTrial>& ranking) {
  return std::any_of(ranking.begin(), ranking.end(), [](const auto& ranked) { return is_corrected(ranked); });
}

const RankedTrial* simplest_of_best(const std::vector<RankedTrial>& ranking, const Configuration& current) {
  const auto wanted = without_defaults(current);
  const RankedTrial* best = nullptr;
  std::tuple<std::size_t, std::size_t, std::int64_t> least;
  for (const auto& ranked : ranking) {
    if (ranked.rank != 1 || !ranked.meets_constraints || is_stopped_early(ranked)) continue;
    const auto configuration = without_defaults(ranked.trial->configuration);
    const std::tuple effort(schema::differing_keys(configuration, wanted).size(), configuration.size(),
                            ranked.outcome->measurement->peak_rss_bytes);
    if (best != nullptr && effort >= least) continue;
    best = &ranked;
    least = effort;
  }
  return best;
}

const schema::TunedTrial* trial_of(const std::vector<RankedTrial>& ranking,
                                   const schema::Configuration& configuration) {
  const schema::TunedTrial* found = nullptr;
  for (const auto& ranked : ranking)
    if (ranked.trial->configuration == configuration && (found == nullptr || ranked.trial->id < found->id))
      found = ranked.trial;
  return found;
}

bool was_dropped(const schema::TuneRun& run, const schema::TunedPair& pair) {
  return run.verdict && run.verdict->decision == schema::Decision::change &&
         schema::effective_value(run.verdict->configuration, pair.setting) !=
             schema::effective_value(pair.a, pair.setting);
}

bool tried_others(const schema::TuneRun& run) {
  return std::any_of(run.trials.begin(), run.trials.end(),
                     [&](const auto& trial) { return trial.configuration != run.current; });
}

const schema::TunedPair* best_finalist(const schema::TuneRun& run) {
  return highest_finalist(run, [](const auto&) { return true; });
}

const schema::TunedPair* undecided_finalist(const schema::TuneRun& run) {
  return highest_finalist(run, [&](const schema::Comparison& gain) {
    return gain.verdict == schema::Verdict::inconclusive && gain.high >= 1 + run.request.min_effect;
  });
}

std::vector<int> pareto_front(const std::vector<RankedTrial>& ranking) {
  std::vector<const RankedTrial*> points;
  for (const auto& ranked : ranking)
    if (ranked.meets_constraints && !is_stopped_early(ranked)) points.push_back(&ranked);
  std::stable_sort(points.begin(), points.end(), [](const auto* a, const auto* b) {
    return std::tuple(a->summary.median_ns, -a->summary.throughput_per_s) <
           std::tuple(b->summary.median_ns, -b->summary.throughput_per_s);
  });
  std::vector<int> front;
  double highest = 0;
  for (const auto* point : points) {
    if (point->summary.throughput_per_s <= highest) continue;
    highest = point->summary.throughput_per_s;
    front.push_back(point->trial->id);
  }
  return front;
}

std::optional<schema::Message> accuracy_fault(const schema::OutputError& output_error, double tolerance) {
  const auto& where = output_error.worst_output;
  if (output_error.shape_mismatch) return messages::output_shapes_differ(where);
  if (output_error.nan_mismatches > 0)
    return messages::outputs_not_finite(
        {.count = output_error.nan_mismatches, .elements = output_error.elements, .output = where});
  // Negated, so that a NaN error is a fault as well.
  if (!(output_error.scaled_max_abs <= tolerance))
    return messages::out_of_tolerance({.error = output_error.scaled_max_abs, .output = where, .tolerance = tolerance});
  return std::nullopt;
}

double default_tolerance(const schema::ModelDescription& model, double noise) {
  double tolerance = 0;
  for (const auto& output : model.outputs)
    tolerance = std::max(tolerance, type_tolerance(output.element_type).value_or(0));
  if (tolerance == 0)
    tolerance = kFlippedElements;
  else  // A float output computed from half-precision weights is no more exact than they are.
    for (const auto& [type, count] : model.parameter_types)
      if (static_cast<double>(count) >= 0.1 * static_cast<double>(model.parameters))
        tolerance = std::max(tolerance, type_tolerance(type).value_or(0));
  return std::max(tolerance, 10 * noise);
}

}  // namespace ridgeline::analysis
