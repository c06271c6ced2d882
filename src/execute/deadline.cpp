// SPDX-License-Identifier: Apache-2.0
#include "execute/deadline.hpp"

#include <algorithm>

namespace ridgeline::execute {
namespace {

constexpr double kStartUpS = 120;  ///< a large model's graph optimization takes tens of seconds
constexpr double kVerifyS = 60;
constexpr double kFixedRunsS = 3600;

}  // namespace

double derived_deadline_s(const schema::MeasurementPlan& plan) {
  const double timed = plan.runs ? std::max(kFixedRunsS, 2 * plan.max_time_s) : 2 * plan.max_time_s;
  return kStartUpS + 2 * plan.warmup_max_s + timed + kVerifyS;
}

double derived_deadline_s(const schema::PairedPlan& plan) {
  // Sessions that are slow to make end the budget after two to four pairs, of which few take as long as that.
  const int pairs = std::clamp(plan.rounds, 1, 2);
  return pairs * 2 * (kStartUpS + plan.warmup.warmup_max_s) + 2 * std::max(plan.max_time_s, plan.min_samples_time_s) +
         kVerifyS;
}

}  // namespace ridgeline::execute
