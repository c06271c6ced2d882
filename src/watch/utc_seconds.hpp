// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ridgeline::watch {

/// Seconds since the epoch of "2026-11-21T08:15:00Z" (base::Clock::utc_now); 0 when it is not of that form.
[[nodiscard]] std::int64_t utc_seconds(const std::string& utc) noexcept;

}  // namespace ridgeline::watch
