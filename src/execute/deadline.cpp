// SPDX-License-Identifier: Apache-2.0
#include "execute/deadline.hpp"

#include "schema/execution_provider.hpp"

#include <algorithm>

namespace ridgeline::execute {
namespace {

constexpr double kStartUpS = 120;  ///< a large model's graph optimization takes tens of seconds
/// Who compiles the graph times kernels while it builds its engines: minutes, more at
/// trt_builder_optimization_level=5.
constexpr double kStartUpWithEnginesS = 1800;
constexpr double kStartUpWithCompilerS = 900;  ///< max-autotune of a large model takes ten minutes
constexpr double kVerifyS = 60;
constexpr double kFixedRunsS = 3600;

double start_up_s(std::string_view provider) {
  const auto& row = schema::provider_of(provider);
  if (row.compiles_graph) return kStartUpWithEnginesS;
  return row.compiles_calls ? kStartUpWithCompilerS : kStartUpS;
}

}  // namespace

double derived_deadline_s(const schema::MeasurementPlan& plan, std::string_view provider) {
  const double timed = plan.runs ? std::max(kFixedRunsS, 2 * plan.max_time_s) : 2 * plan.max_time_s;
  return start_up_s(provider) + 2 * plan.warmup_max_s + timed + kVerifyS;
}

double derived_deadline_s(const schema::PairedPlan& plan, std::string_view provider) {
  // Sessions that are slow to make end the budget after two to four pairs, of which few take as long as that.
  const int pairs = std::clamp(plan.rounds, 1, 2);
  return pairs * 2 * (start_up_s(provider) + plan.warmup.warmup_max_s) +
         2 * std::max(plan.max_time_s, plan.min_samples_time_s) + kVerifyS;
}

}  // namespace ridgeline::execute
