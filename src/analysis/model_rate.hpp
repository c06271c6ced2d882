// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/ranking.hpp"

namespace ridgeline::analysis {

/// The model's work at a trial's measured throughput, all lanes together. 0 where the model's work is not known.
struct ModelRate {
  double flops_per_s = 0;
  double bytes_per_s = 0;  ///< of the least memory traffic
};
[[nodiscard]] ModelRate model_rate(const schema::TuneRun& run, const RankedTrial& ranked);

/// Nodes that the runtime schedules: Constant nodes become initializers when the model is loaded.
[[nodiscard]] std::int64_t dispatched_nodes(const schema::ModelDescription& model);

}  // namespace ridgeline::analysis
