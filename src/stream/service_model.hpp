// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "stream/ratio_window.hpp"

namespace ridgeline::stream {

/// What a warmed batch size took: one time a run, without the first, which pays for what the others find ready.
struct WarmUpTimes {
  std::uint32_t batch = 1;
  std::vector<std::int64_t> times_ns;
};

/// How a batch of n frames is executed.
enum class BatchShape {
  exact,   ///< as n frames; between warmed sizes the time is linear in n
  padded,  ///< as the smallest warmed size that holds n, whose time it takes
};

/// How long a batch takes: the warm-up's times give the shape over batch sizes, and what batches really take corrects
/// it while the pipeline runs (other workers on the same device, throttling). Not thread-safe.
class ServiceModel {
 public:
  /// invalid_argument without a warmed size, or for a size or time of 0 or less.
  [[nodiscard]] static base::Result<ServiceModel> make(std::vector<WarmUpTimes> warm_up, BatchShape shape);

  /// The size that a batch of n is executed with. n >= 1.
  [[nodiscard]] std::uint32_t executed_size(std::uint32_t n) const noexcept;
  /// Of n frames that wait, how many to take so that most are done in the time: all of them, or, where those are
  /// padded, as many as the largest warmed size below holds.
  [[nodiscard]] std::uint32_t efficient_size(std::uint32_t n) const noexcept;
  /// The largest batch that can be executed: unlimited for exact shapes.
  [[nodiscard]] std::uint32_t largest() const noexcept;

  [[nodiscard]] std::int64_t expected_ns(std::uint32_t n) const noexcept;
  /// What a batch of n rarely exceeds: about the 99.5th percentile, by the last 128 batches of its size.
  [[nodiscard]] std::int64_t high_ns(std::uint32_t n) const noexcept;
  /// What the warm-up alone foretells.
  [[nodiscard]] std::int64_t warm_ns(std::uint32_t n) const noexcept;

  /// A batch of n took so long.
  void observe(std::uint32_t n, std::int64_t took_ns);

 private:
  struct Bucket {
    std::uint32_t size = 1;
    double warm_ns = 0;
    RatioWindow ratios;  ///< of batches above the next smaller size, up to this one
    std::size_t not_seen_for = 0;
  };

  [[nodiscard]] std::size_t bucket_of(std::uint32_t n) const noexcept;
  [[nodiscard]] double warm(std::uint32_t n) const noexcept;
  /// The ratios that say most about that bucket: its own, or those of all while it has few.
  [[nodiscard]] const RatioWindow& ratios(std::size_t bucket) const noexcept;

  std::vector<Bucket> buckets_;  ///< by size
  RatioWindow all_;
  BatchShape shape_ = BatchShape::exact;
};

}  // namespace ridgeline::stream
