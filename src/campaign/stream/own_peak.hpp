// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "schema/stream_run.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// What `stream bench` without a rate measured of a pipeline.
struct OwnPeak {
  std::string run_id;
  double frames_per_s = 0;
};

/// The newest peak of the run's pipeline: of the same model, runtime, device and settings, limits and queues apart,
/// with frames of the same size. `ready` is the run's. Nullopt: there is none among the newest runs.
[[nodiscard]] std::optional<OwnPeak> own_peak(store::Store& store, const schema::StreamRun& run,
                                              const schema::StreamReady& ready);

}  // namespace ridgeline::campaign
