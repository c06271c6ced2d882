// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_evidence.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/summary.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::analysis {
namespace {

constexpr double kComputes = 0.70;      ///< of a step's time, from which its thread is busy
constexpr double kOthersCompute = 0.5;  ///< CPUs, from which other threads are

}  // namespace

std::optional<BenchEvidence> find_evidence(const schema::BenchRun& run, const schema::TrainingSettings& settings,
                                           schema::DataMode data) {
  BenchEvidence out;
  std::vector<double> rates;
  std::vector<double> lows;
  std::vector<double> highs;
  std::vector<const schema::TrainingMeasurement*> seen;
  for (const auto& trial : run.trials) {
    if (trial.settings != settings || trial.data != data || trial.outcome.status != schema::TrialStatus::ok) continue;
    if (!trial.outcome.measurement || trial.outcome.measurement->samples_per_s.value <= 0) continue;
    seen.push_back(&*trial.outcome.measurement);
    out.lost_loss = out.lost_loss || schema::has_lost_loss(*trial.outcome.measurement);
    rates.push_back(seen.back()->samples_per_s.value);
    lows.push_back(seen.back()->samples_per_s.low);
    highs.push_back(seen.back()->samples_per_s.high);
    out.trials.push_back(trial.id);
  }
  if (rates.empty()) return std::nullopt;
  out.count = static_cast<int>(rates.size());
  const bool outvoted = out.count > 2;  // one that was disturbed
  const auto [slowest, fastest] = std::minmax_element(rates.begin(), rates.end());
  out.spread = *fastest / *slowest - 1;
  out.rate = stats::quantile(rates, 0.5);
  const auto& typical = **std::min_element(seen.begin(), seen.end(), [&](const auto* a, const auto* b) {
    return std::abs(a->samples_per_s.value - out.rate) < std::abs(b->samples_per_s.value - out.rate);
  });
  out.resources = typical.resources;
  out.phases = typical.phases;
  out.low = outvoted ? stats::quantile(lows, 0.5) : stats::quantile(lows, 0);
  out.high = outvoted ? stats::quantile(highs, 0.5) : stats::quantile(highs, 1);
  return out;
}

bool clearly_faster(const BenchEvidence& other, const BenchEvidence& than, double share) noexcept {
  return other.rate >= than.rate * (1 + share) && other.low > than.high;
}

bool StepShare::computes() const noexcept { return thread >= kComputes; }
bool StepShare::waits() const noexcept { return !computes() && others < kOthersCompute; }

std::optional<StepShare> step_share(const BenchEvidence& stepping) noexcept {
  const auto& seen = stepping.resources;
  if (!seen.step_wall_s || !seen.step_cpu_s || *seen.step_wall_s <= 0) return std::nullopt;
  return StepShare{std::clamp(*seen.step_cpu_s / *seen.step_wall_s, 0.0, 1.0),
                   std::max(0.0, seen.step_others_cpu_s.value_or(0) / *seen.step_wall_s)};
}

}  // namespace ridgeline::analysis
