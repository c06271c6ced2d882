// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "gpu/device_times.hpp"
#include "schema/stream_status.hpp"
#include "stream/pipeline_status.hpp"

namespace ridgeline::execute {

/// A pipeline's numbers as they are sent and stored. `slo_ns`: its limit; 0: none. `device`: what the model's device
/// did in the `elapsed_s`, where that is known.
[[nodiscard]] schema::StreamStatus summarize(const stream::PipelineStatus& status, double elapsed_s,
                                             std::int64_t slo_ns = 0,
                                             const std::optional<gpu::DeviceTimes>& device = std::nullopt);

}  // namespace ridgeline::execute
