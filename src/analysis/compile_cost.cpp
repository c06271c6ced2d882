// SPDX-License-Identifier: Apache-2.0
#include "analysis/compile_cost.hpp"

#include <algorithm>
#include <array>

namespace ridgeline::analysis {
namespace {

constexpr std::string_view kCompiler = "torch_compile";
constexpr std::array<std::string_view, 3> kEfforts{"default", "reduce-overhead", "max-autotune"};

/// Place in kEfforts; nullopt: compiled by no compiler that has a cache.
std::optional<std::size_t> effort_of(const schema::Configuration& configuration) {
  const auto* mode = configuration.find(std::string(kCompiler));
  if (mode == nullptr) return std::nullopt;
  const auto at = std::find(kEfforts.begin(), kEfforts.end(), mode->as_text());
  if (at == kEfforts.end()) return std::nullopt;
  return static_cast<std::size_t>(at - kEfforts.begin());
}

double compile_s(const schema::Measurement& measurement) {
  const auto found = measurement.metrics.find("compile_s");
  return found == measurement.metrics.end() ? 0 : found->second;
}

struct Known {
  double seconds = 0;
  bool cold = true;
};

Known known_cost(const schema::TuneRun& run, const OutcomesByKey& outcomes, const RankedTrial& ranked) {
  const auto& own = *ranked.outcome->measurement;
  Known known{compile_s(own), true};
  const auto effort = effort_of(ranked.trial->configuration);
  if (!effort) return known;
  known.cold = schema::has_flag(own.flags, schema::kColdCompile);
  for (const auto& trial : run.trials) {
    const auto other = effort_of(trial.configuration);
    if (!other || *other > *effort ||
        schema::candidate_of(trial.configuration) != schema::candidate_of(ranked.trial->configuration))
      continue;
    const auto found = outcomes.find(trial.key);
    if (found == outcomes.end() || !found->second.measurement ||
        !schema::has_flag(found->second.measurement->flags, schema::kColdCompile))
      continue;
    known.cold = true;
    known.seconds = std::max(known.seconds, compile_s(*found->second.measurement));
  }
  return known;
}

/// In a call of the recommended configuration, against one of the current.
double saved_ns(const schema::TuneRun& run, const RankedTrial& best, const RankedTrial& now) {
  if (run.verdict->gain && run.request.objective == schema::Objective::latency)
    return now.summary.median_ns * (1 - 1 / run.verdict->gain->ratio);
  return now.summary.median_ns - best.summary.median_ns;
}

}  // namespace

std::optional<CompileCost> compile_cost(const schema::TuneRun& run, const OutcomesByKey& outcomes,
                                        const std::vector<RankedTrial>& ranking) {
  if (!run.verdict || run.verdict->decision != schema::Decision::change) return std::nullopt;
  const RankedTrial* best = nullptr;
  const RankedTrial* now = nullptr;
  for (const auto& ranked : ranking) {
    if (ranked.trial->id == run.verdict->trial_id) best = &ranked;
    if (now == nullptr && ranked.trial->configuration == run.current) now = &ranked;
  }
  if (best == nullptr || best->trial->configuration != run.verdict->configuration) return std::nullopt;
  const auto cost = known_cost(run, outcomes, *best);
  if (cost.seconds <= 0) return std::nullopt;
  CompileCost out{cost.seconds, !cost.cold, {}};
  if (now == nullptr ||
      best->outcome->measurement->items_per_inference != now->outcome->measurement->items_per_inference)
    return out;
  const double saved = saved_ns(run, *best, *now);
  const double more_s = cost.seconds - known_cost(run, outcomes, *now).seconds;
  if (saved > 0 && more_s > 0) out.pays_after_calls = more_s * 1e9 / saved;
  return out;
}

}  // namespace ridgeline::analysis
