// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/stream_run.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// What `stream bench` without a rate measured of a pipeline.
struct OwnPeak {
  std::string run_id;
  double frames_per_s = 0;
};

/// The newest runs that measured a peak and came to their end. Read before a pipeline begins: nothing may wait for the
/// store while its results arrive.
[[nodiscard]] std::vector<schema::StreamRun> peak_runs(store::Store& store);

/// The first peak of the run's pipeline: of the same model, runtime, device and settings, limits and queues apart, with
/// frames of the same size. `ready` is the run's. Nullopt: there is none.
[[nodiscard]] std::optional<OwnPeak> own_peak(const std::vector<schema::StreamRun>& peaks, const schema::StreamRun& run,
                                              const schema::StreamReady& ready);

}  // namespace ridgeline::campaign
