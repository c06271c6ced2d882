// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/ranking.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// What one inference of a configuration asks of the GPU, from the model alone. 0: not known.
struct InferenceWork {
  double flops = 0;
  /// Traffic of device memory: weights once, the rest scaled with the batch. Counted over the nodes that the runtime
  /// runs, or over those of the file, of which it may fuse many. Caches can bring it lower.
  double memory_bytes = 0;
  bool as_run = false;  ///< memory_bytes is of the runtime's own graph
  double input_bytes = 0;
  double output_bytes = 0;    ///< outputs whose size the model does not tell are left out
  bool outputs_known = true;  ///< false: some were left out
};
/// Averaged over the members of a shape mix.
[[nodiscard]] InferenceWork work_of(const schema::TuneRun& run, const schema::Configuration& configuration);

/// Below this share of the time a resource does not explain it; short or slow kernels then do.
inline constexpr double kExplains = 0.3;

enum class GpuBound {
  launch,   ///< the card waits for launches, or kernels are too short to fill it
  copy,     ///< moving inputs and outputs between host and device
  memory,   ///< traffic of device memory
  compute,  ///< arithmetic
  unclear,
};
/// "launch-bound" ... "unclear".
[[nodiscard]] std::string_view bound_name(GpuBound bound) noexcept;

/// Where the time of one inference goes, against the ceilings measured on the card (TuneRun::gpu_ceilings). A floor is
/// the time that one resource alone would take at its ceiling; floors overlap, so they need not sum to the whole. What
/// the records do not tell is nullopt.
struct GpuLimits {
  double inference_ns = 0;  ///< median; with several callers the window's time by the inferences done in it
  InferenceWork work;
  std::optional<double> compute_ns;  ///< flops at the matrix-product ceiling of the type in use
  std::optional<double> memory_ns;   ///< memory_bytes at the device copy ceiling; at most that unless work.as_run
  std::optional<double> copy_ns;  ///< host scenario: inputs and outputs at the copy ceilings; 0 with data on the device
  std::optional<double> launch_ns;  ///< a launch a node; nullopt with a CUDA graph; at most that unless work.as_run
  /// Share of the time with a kernel running, as the card counts, else as the driver does; nullopt for a trial shorter
  /// than these need.
  std::optional<double> busy;
  bool busy_isolated = false;     ///< that is of the same configuration alone in a process, timed for longer
  std::string compute_type;       ///< "TF32", "FP32", "FP16"
  bool pageable_assumed = false;  ///< pageable copies were not probed: taken at a third of the pinned rate
  GpuBound bound = GpuBound::unclear;
  /// `bound` is named because nothing else explains the time, but rests on the file's nodes, of which many may be
  /// fused.
  bool likely = false;
  /// Unclear, with kernels running most of the time: they are not short, and far slower than arithmetic and memory
  /// traffic need.
  bool slow_kernels = false;
  /// inference_ns over the floor of `bound` (launch: over the larger of compute and memory): how many times faster it
  /// could be at best as far as that limit goes. Caches can bring it below 1. nullopt where that floor is an upper
  /// bound.
  std::optional<double> distance;
};
/// nullopt when the trial ran on no GPU or the model's work is not known. `isolated`: see isolated_with.
[[nodiscard]] std::optional<GpuLimits> gpu_limits(const schema::TuneRun& run, const RankedTrial& ranked,
                                                  const schema::Measurement* isolated = nullptr);

}  // namespace ridgeline::analysis
