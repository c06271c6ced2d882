// SPDX-License-Identifier: Apache-2.0
#include "schema/measurement.hpp"

#include <cstddef>

namespace ridgeline::schema {

double turn_effect(std::span<const double> round_means) noexcept {
  if (round_means.size() < 2) return 0;
  double even = 0;
  double odd = 0;
  for (std::size_t round = 0; round < round_means.size(); ++round) (round % 2 == 0 ? even : odd) += round_means[round];
  const std::size_t odds = round_means.size() / 2;
  return (even / static_cast<double>(round_means.size() - odds) - odd / static_cast<double>(odds)) / 2;
}

RL_DEFINE_JSON(QualityFlag, level, code, message)
RL_DEFINE_JSON(Measurement, latency_ns, wall_ns, items_per_inference, lanes, session_create_ns, first_run_ns,
               warmup_runs, warmup_ns, stop_reason, peak_rss_bytes, flags, effective_settings, metrics, gpu)
RL_DEFINE_JSON(AccuracyDrift, max_abs, max_rel, scaled_max_abs, cosine, elements, nan_mismatches, nonfinite,
               shape_mismatch, tiny_outputs, worst_output)
RL_DEFINE_JSON(PairedMeasurement, blocks, items_per_inference_a, items_per_inference_b, blocks_s, rounds, flags)

}  // namespace ridgeline::schema
