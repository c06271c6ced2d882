// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "schema/stream_status.hpp"
#include "stream/pipeline_status.hpp"

namespace ridgeline::execute {

/// A pipeline's numbers as they are sent and stored. `slo_ns`: its limit; 0: none. `device_busy`: as
/// StreamStatus::gpu_busy.
[[nodiscard]] schema::StreamStatus summarize(const stream::PipelineStatus& status, double elapsed_s,
                                             std::int64_t slo_ns = 0, std::optional<double> device_busy = std::nullopt);

}  // namespace ridgeline::execute
