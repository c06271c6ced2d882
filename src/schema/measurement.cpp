// SPDX-License-Identifier: Apache-2.0
#include "schema/measurement.hpp"

#include <algorithm>

#include "schema/former_keys.hpp"

namespace ridgeline::schema {

bool has_flag(const std::vector<QualityFlag>& flags, std::string_view code) noexcept {
  return std::any_of(flags.begin(), flags.end(), [&](const auto& flag) { return flag.code == code; });
}

RL_DEFINE_JSON(QualityFlag, level, code, message)
RL_DEFINE_JSON(RanOn, libraries, nodes, parts)
RL_DEFINE_JSON(Measurement, latency_ns, wall_ns, items_per_inference, concurrency, session_create_ns, first_run_ns,
               warmup_runs, warmup_ns, stop_reason, peak_rss_bytes, flags, effective_settings, metrics, ran_on, gpu)
RL_DEFINE_JSON(OutputError, max_abs, max_rel, scaled_max_abs, cosine, elements, nan_mismatches, nonfinite,
               shape_mismatch, tiny_outputs, worst_output, metric, metric_not_finite)
RL_DEFINE_JSON(PairedMeasurement, blocks, items_per_inference_a, items_per_inference_b, blocks_s, rounds, flags)

}  // namespace ridgeline::schema
