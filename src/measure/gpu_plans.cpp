// SPDX-License-Identifier: Apache-2.0
#include "measure/gpu_plans.hpp"

namespace ridgeline::measure {

void apply_gpu_defaults(schema::MeasurementPlan& plan, schema::PairedPlan& paired) noexcept {
  const schema::PairedPlan usual;
  const schema::MeasurementPlan ordinary;
  if (plan.min_time_s == ordinary.min_time_s) plan.min_time_s = 0.1;
  // The next session of the same configuration differs by 1.4 to 3 %: to know this one more finely is time wasted.
  if (plan.target_interval_ratio == ordinary.target_interval_ratio) plan.target_interval_ratio = 0.02;
  // A pair of sessions takes up to seconds to make there; arms that are far apart need no more than two.
  if (paired.rounds == usual.rounds && paired.max_rounds == usual.max_rounds) {
    paired.rounds = 2;
    paired.max_rounds = 12;
  }
  if (paired.settle_s == usual.settle_s) paired.settle_s = 0.002;
  if (paired.discard_time_s == usual.discard_time_s) paired.discard_time_s = 0;
  if (paired.min_time_s == usual.min_time_s) paired.min_time_s = 0;
  // Sessions differ by as much as that over six of them. To find 3 % on a host with an uneven CPU takes so long: 9 of
  // 10 slow-downs were found, 7 of 10 with 4 s (benchmarks/results/h200/comparisons.md).
  if (paired.target_half_width == usual.target_half_width) paired.target_half_width = 0.015;
  if (paired.max_time_s == usual.max_time_s) paired.max_time_s = 8;
}

}  // namespace ridgeline::measure
