// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace ridgeline::base {

/// SplitMix64 (Steele, Lea, Flood 2014): the same seed gives the same stream on every machine and standard library,
/// which std::normal_distribution and friends do not promise. Not for secrets. Not thread-safe.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
  }
  /// Uniform in [0, 1).
  constexpr double uniform() noexcept { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  /// Uniform in [0, bound); bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }
  /// Standard normal (Box-Muller).
  double normal() noexcept {
    constexpr double kTwoPi = 6.283185307179586;
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(kTwoPi * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace ridgeline::base
