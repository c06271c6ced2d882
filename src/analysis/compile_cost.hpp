// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "analysis/ranking.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// What the recommended configuration costs once, before its first fast call.
struct CompileCost {
  double seconds = 0;            ///< compiling, tracing and capturing
  bool from_warm_cache = false;  ///< part of it was in a cache: on a new machine it takes longer
  /// Calls after which that much time is saved, beyond what the current configuration costs; unset where none is.
  std::optional<double> pays_after_calls{};
};

/// Of a run that recommends a change to something compiled or captured; nullopt: of any other. A trial that began with
/// an empty cache tells how long compiling takes; what is compiled after it finds its kernels. So the cost is the
/// recommended trial's own time or, where that is longer, the time of a trial that began so and compiled with no more
/// effort than the recommended one.
[[nodiscard]] std::optional<CompileCost> compile_cost(const schema::TuneRun& run, const OutcomesByKey& outcomes,
                                                      const std::vector<RankedTrial>& ranking);

}  // namespace ridgeline::analysis
