// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "stream/service_model.hpp"

namespace ridgeline::stream {

/// The largest batch, at most `limit`, with which a frame that just missed a launch still meets the SLO: it waits for
/// one batch and is in the next, so 2 T(b) <= SLO. At least 1. invalid_argument when one inference takes longer than
/// the SLO.
[[nodiscard]] base::Result<std::uint32_t> slo_batch(const ServiceModel& model, std::uint32_t limit,
                                                    std::int64_t slo_ns);

/// The frames that may wait so that the last of them still meets the SLO: X(b) * (SLO - T(b)), where b is `max_batch`
/// and X(b) = workers * b / T(b). At least 1. `workers` counts those that do
/// not share a device. invalid_argument when one inference takes longer than the SLO.
[[nodiscard]] base::Result<std::size_t> slo_capacity(const ServiceModel& model, std::uint32_t max_batch,
                                                     std::uint32_t workers, std::int64_t slo_ns);

}  // namespace ridgeline::stream
