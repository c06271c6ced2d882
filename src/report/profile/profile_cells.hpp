// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/profile.hpp"

namespace ridgeline::report {

/// Of the peak; more cannot be, as bytes and time are not of the same work then. Clocks of a memory are not exact.
inline constexpr double kMostOfPeak = 1.05;
inline constexpr double kWholeRoof = 1.005;  ///< 100 %, rounded

/// Cells of the tables of a profile. Times in ns, bytes below 0: not known; kAbsent where a number is not.
[[nodiscard]] std::string cell_time(std::int64_t ns);
[[nodiscard]] std::string cell_share(std::int64_t part, std::int64_t whole);
[[nodiscard]] std::string cell_bytes(std::int64_t bytes);
/// GB/s, as bytes per nanosecond are GB per second.
[[nodiscard]] std::string cell_rate(std::int64_t bytes, std::int64_t ns);
/// What bytes and time that are not of the same work make: memory is never that fast. `peak` in bytes per second, 0:
/// unknown.
[[nodiscard]] bool is_beyond(double peak, std::int64_t bytes, std::int64_t ns);
/// Likewise, kAbsent where that is beyond the peak.
[[nodiscard]] std::string cell_rate(double peak, std::int64_t bytes, std::int64_t ns);
[[nodiscard]] std::string cell_peak(double peak, std::int64_t bytes, std::int64_t ns);
/// GFLOP/s; "" of none.
[[nodiscard]] std::string cell_flops(std::int64_t flops, std::int64_t ns);
/// Whether cell_roof has a roof to go by.
[[nodiscard]] bool has_roof(const schema::ProfileRun& run);
/// How near to what the device reaches at best. Nothing goes beyond that: a larger share is none (rate_notes).
[[nodiscard]] std::string cell_roof(const schema::ProfileRoof& roof, std::int64_t bytes, std::int64_t flops,
                                    std::int64_t ns);
/// What stands among the kernels: graphs that were recorded as a whole, too.
[[nodiscard]] std::string_view kernel_words(std::int64_t kernels, std::int64_t graph_launches);

}  // namespace ridgeline::report
