// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/error.hpp"
#include "gpu/cuda_driver.hpp"
#include "gpu/device_times.hpp"
#include "gpu/interval_union.hpp"
#include "stats/latency_histogram.hpp"

namespace ridgeline::gpu {

/// Measures DeviceTimes. Thread-safe; the context is current for each thread that calls.
class BusyClock {
 public:
  [[nodiscard]] static base::Result<std::unique_ptr<BusyClock>> make(std::shared_ptr<const CudaDriver> driver);

  /// An inference of a batch of that size, or an upload; both events have been reached. The time between them in
  /// nanoseconds.
  [[nodiscard]] base::Result<std::int64_t> add(const CudaEvent& start, const CudaEvent& end, std::uint32_t size);
  [[nodiscard]] base::Result<std::int64_t> add_upload(const CudaEvent& start, const CudaEvent& end);
  /// Warm-up is over: times() counts from here.
  void start_over();
  [[nodiscard]] DeviceTimes times() const;

 private:
  BusyClock(std::shared_ptr<const CudaDriver> driver, CudaStream stream, CudaEvent base, CudaEvent next)
      : driver_(std::move(driver)), stream_(std::move(stream)), base_(std::move(base)), next_(std::move(next)) {}
  struct Interval {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  [[nodiscard]] base::Result<void> move_base();
  /// Since the first base.
  [[nodiscard]] base::Result<Interval> interval(const CudaEvent& start, const CudaEvent& end);
  /// Without what was before start_over().
  [[nodiscard]] DeviceTimes covered() const;

  std::shared_ptr<const CudaDriver> driver_;
  IntervalUnion busy_;
  IntervalUnion uploads_;
  IntervalUnion both_;                                           ///< all of them: what the two have in common follows
  mutable std::mutex mutex_;                                     // guards what follows
  std::map<std::uint32_t, stats::LatencyHistogram> inferences_;  ///< by batch size
  DeviceTimes before_;
  CudaStream stream_;
  CudaEvent base_;      ///< times are counted from it
  CudaEvent next_;      ///< the next one, as the driver gives times as floats of milliseconds
  double base_ms_ = 0;  ///< of it, since the first one
};

}  // namespace ridgeline::gpu
