// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stream/service_model.hpp"

namespace ridgeline::stream {

/// What a batch takes more when the one before it was of another size, in nanoseconds: the median over all sizes. None
/// where that is not more than the largest batch takes, or below 1 ms: then sizes may change. Otherwise padding every
/// batch to the largest costs less: runtimes that plan anew for each size. `repeated`: by size, the largest last, each
/// right after the same size. `changed`: each right after another size.
[[nodiscard]] std::optional<std::int64_t> size_change_cost(std::span<const WarmUpTimes> repeated,
                                                           std::span<const WarmUpTimes> changed);

}  // namespace ridgeline::stream
