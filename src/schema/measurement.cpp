// SPDX-License-Identifier: Apache-2.0
#include "schema/measurement.hpp"

#include <algorithm>

#include "schema/former_keys.hpp"

namespace ridgeline::schema {
namespace {

/// What every output error has.
struct Compared : OutputError {};
RL_DEFINE_JSON(Compared, max_abs, max_rel, scaled_max_abs, cosine, elements, nan_mismatches, nonfinite, shape_mismatch,
               tiny_outputs, worst_output, metric, metric_not_finite)

}  // namespace

bool has_flag(const std::vector<QualityFlag>& flags, std::string_view code) noexcept {
  return std::any_of(flags.begin(), flags.end(), [&](const auto& flag) { return flag.code == code; });
}

RL_DEFINE_JSON(QualityFlag, level, code, message)
RL_DEFINE_JSON(RanOn, libraries, nodes, parts)
RL_DEFINE_JSON(Measurement, latency_ns, wall_ns, items_per_inference, concurrency, session_create_ns, first_run_ns,
               warmup_runs, warmup_ns, stop_reason, peak_rss_bytes, flags, effective_settings, metrics, ran_on, gpu)
RL_DEFINE_JSON(CallVariation, outputs, calls, repeats, trend, unjudged)
RL_DEFINE_JSON(SpreadError, distance, relative, calls, output, statistic, found, reference)
RL_DEFINE_JSON(PairedMeasurement, blocks, items_per_inference_a, items_per_inference_b, blocks_s, rounds, flags)

void to_json(base::Json& out, const OutputError& error) {
  Compared compared;
  static_cast<OutputError&>(compared) = error;
  to_json(out, compared);
  if (error.spread) out["spread"] = *error.spread;
  if (error.variation) out["variation"] = *error.variation;
}

void from_json(const base::Json& in, OutputError& error) {
  Compared compared;
  from_json(in, compared);
  error = std::move(compared);
  if (const auto spread = in.find("spread"); spread != in.end()) spread->get_to(error.spread.emplace());
  if (const auto variation = in.find("variation"); variation != in.end()) variation->get_to(error.variation.emplace());
}

}  // namespace ridgeline::schema
