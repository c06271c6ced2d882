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

/// The frames that can be done within the SLO, where each batch takes what the model expects: SLO * X(b), where b is at
/// most `max_batch` and X(b) = workers * b / T(b). At least 1. More of them need not wait, and fewer would turn away
/// frames that can be in time: which ones cannot is for deadlines to decide. `workers` counts those that do not share a
/// device.
[[nodiscard]] std::size_t slo_capacity(const ServiceModel& model, std::uint32_t max_batch, std::uint32_t workers,
                                       std::int64_t slo_ns) noexcept;

/// invalid_argument when one inference is expected to take longer than the SLO.
[[nodiscard]] base::Result<void> check_slo(const ServiceModel& model, std::int64_t slo_ns);

}  // namespace ridgeline::stream
