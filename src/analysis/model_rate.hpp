// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/ranking.hpp"

namespace ridgeline::analysis {

/// The model's work at a trial's measured throughput, all callers together. 0 where the model's work is not known.
struct ModelRate {
  double flops_per_s = 0;
  double bytes_per_s = 0;  ///< of InferenceWork::memory_bytes
};
[[nodiscard]] ModelRate model_rate(const schema::TuneRun& run, const RankedTrial& ranked);

/// The runtime's own graph for the configuration; nullptr when it was not looked at.
[[nodiscard]] const schema::RuntimeGraph* graph_of(const schema::TuneRun& run,
                                                   const schema::Configuration& configuration);

/// Nodes that the runtime schedules. Without its own graph those of the file, of which Constant nodes become
/// initializers when the model is loaded, and fusion may remove more.
[[nodiscard]] std::int64_t dispatched_nodes(const schema::TuneRun& run, const schema::Configuration& configuration);

}  // namespace ridgeline::analysis
