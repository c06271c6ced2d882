// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analysis/ranking.hpp"
#include "base/json.hpp"
#include "schema/message_renderer.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::report {

/// Raised when a field is renamed, removed or changes its meaning; new fields do not raise it.
inline constexpr int kTuneJsonVersion = 3;

/// A tune run for machines: same input, same bytes. Times in ns, sizes in bytes, shares as fractions; an absent number
/// is null. Fields:
///   schema            "ridgeline.tune", schema_version 3
///   run               id, command_line, started_utc, finished_utc, duration_s, interrupted, request (what was asked,
///                     schema::TuneRequest), objective, constraints,
///                     min_effect, accuracy_tolerance, accuracy_gate (of a PyTorch model: least_cosine,
///                     tf32_tolerance, reference_metric, metric_loss; else null), call_variation (outputs that change
///                     from call to call, judged by their distribution: outputs, calls, repeats; else null), search,
///                     seed, provider, device, space_size
///   verdict           null, or decision ("change" "keep" "none"), trial_id, configuration, changed {key: {from, to}},
///                     gain (a comparison or null), tied_with [trial ids], reason; where something is compiled or
///                     captured compile_s, compile_from_warm_cache, pays_after_calls (or null)
///   current           configuration, trial_id (null: never measured)
///   ranking           best first: trial_id, rank, value and interval [low, high] as measured, speed_corrected (what
///   the
///                     trial ranks by where the machine's speed changed: value, interval; else null), unit ("ns",
///                     "ns_per_item"), median_ns,
///                     median_interval_ns, p90_ns, p95_ns, p99_ns, throughput_per_s, throughput_interval_per_s,
///                     samples, peak_rss_bytes, meets_constraints, broken_constraint
///   pareto_front      trial ids
///   comparisons       purpose, setting, a, b, a_trial_id, b_trial_id (null: was no trial of its own), status, ratio,
///                     interval, p_value, abba_rounds, verdict, failure, cached
///   trials            in order: id, stage, status, configuration, key, cached, started_s, duration_s,
///   measured_utc,
///                     reason, samples, session_create_ns, first_run_ns, warmup_runs, stop_reason, peak_rss_bytes,
///                     flags, effective_settings, output_error, failure, compile_s where something was compiled; no
///                     raw samples. On a GPU also metrics (by
///                     MetricDef key) and gpu (schema::GpuTelemetry without samples), which a failed trial has in
///                     failure, beside flags
///   findings          kind, title, evidence, advice
///   space, pruned, environment, model, runtime_graphs, runtime, plan, workload, notes: as recorded
///   on a GPU only     run.tensor_location ("host" "device"); gpu_ceilings (schema::GpuCeilings or null); gpu_limits:
///   of the current and
///                     the recommended trial trial_id, bound ("launch-bound" "copy-bound" "memory-bound"
///                     "compute-bound" "unclear"), inference_ns, compute_ns, memory_ns, copy_ns, launch_ns, busy_share,
///                     distance, compute_type, pageable_assumed, flops, memory_bytes, memory_as_run (of the runtime's
///                     own graph, not the file's nodes), input_bytes, output_bytes; load: points (batch_size,
///                     parallel_sessions, trial_id, best_of_load (false: listed as an answer only), status,
///                     gpu_memory_gb, throughput_per_s, median_ns), pareto_front and the answers highest_throughput,
///                     lowest_latency, best_within_latency_limit, best_per_gb as trial ids or null
/// Ratios: B over A, above 1 means B is better; null where the ends of the interval are more than a factor of 2 apart.
[[nodiscard]] base::Json tune_json(const schema::MessageRenderer& words, const schema::TuneRun& run,
                                   const analysis::OutcomesByKey& outcomes, const analysis::PairsByKey& pairs);

}  // namespace ridgeline::report
