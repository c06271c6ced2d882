// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "base/json.hpp"

namespace ridgeline::stats {

inline constexpr double kConfidence = 0.95;    ///< of every interval
inline constexpr double kNormal95 = 1.959964;  ///< half width of a normal one, in standard errors

struct Interval {
  double low = 0;
  double high = 0;
};

/// A value with its 95 % interval, in its own unit; low == high == value where nothing tells how sure it is.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};
RL_DECLARE_JSON(Estimate)

/// Standard error of log value, from the ends of its 95 % interval by the normal distribution; 0 where they are not
/// positive or not apart.
[[nodiscard]] inline double log_error(double low, double high) noexcept {
  return low > 0 && high > low ? std::log(high / low) / (2 * kNormal95) : 0;
}

/// Whether the ends of a ratio's interval are more than a factor of 2 apart: what lies between them says too little to
/// be given as a figure.
[[nodiscard]] inline bool is_too_wide(double low, double high) noexcept { return !(low > 0) || high > 2 * low; }

}  // namespace ridgeline::stats
