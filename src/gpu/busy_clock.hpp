// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "base/error.hpp"
#include "gpu/cuda_driver.hpp"
#include "gpu/interval_union.hpp"

namespace ridgeline::gpu {

/// For what part of the time a GPU works for this process, by events around the work: gaps inside a piece of work count
/// as busy. Thread-safe; the context is current for each thread that calls.
class BusyClock {
 public:
  [[nodiscard]] static base::Result<std::unique_ptr<BusyClock>> make(std::shared_ptr<const CudaDriver> driver);

  /// Both have been reached. The time between them in nanoseconds.
  [[nodiscard]] base::Result<std::int64_t> add(const CudaEvent& start, const CudaEvent& end);
  /// Nanoseconds in which at least one piece of work was under way.
  [[nodiscard]] std::int64_t busy_ns() const { return busy_.covered_ns(); }

 private:
  BusyClock(std::shared_ptr<const CudaDriver> driver, CudaStream stream, CudaEvent base, CudaEvent next)
      : driver_(std::move(driver)), stream_(std::move(stream)), base_(std::move(base)), next_(std::move(next)) {}
  [[nodiscard]] base::Result<void> move_base();

  std::shared_ptr<const CudaDriver> driver_;
  IntervalUnion busy_;
  std::mutex mutex_;  // guards what follows
  CudaStream stream_;
  CudaEvent base_;      ///< times are counted from it
  CudaEvent next_;      ///< the next one, as the driver gives times as floats of milliseconds
  double base_ms_ = 0;  ///< of it, since the first one
};

}  // namespace ridgeline::gpu
