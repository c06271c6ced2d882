// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "counter_failure.hpp"
#include "cupti_library.hpp"
#include "host_metrics.hpp"

namespace ridgeline::inject::RL_CUPTI {

/// CUPTI's range profiler on one context, for one window: each launch is a range of its own.
///
/// CUPTI itself makes a range of each kernel (`each_kernel`), but cannot end counting once a CUDA graph was launched in
/// it (CUPTI 13.0: CUPTI_ERROR_UNKNOWN); ranges that the caller begins and ends may hold graphs.
class ContextProfiler {
 public:
  enum class Ranges : std::uint8_t { each_kernel, as_called };

  ContextProfiler(const RangeProfilerFunctions& functions, HostMetrics& metrics, Ranges ranges)
      : f_(functions), metrics_(metrics), ranges_(ranges) {}
  ContextProfiler(const ContextProfiler&) = delete;
  ContextProfiler& operator=(const ContextProfiler&) = delete;

  /// With room for so many ranges, or fewer if memory is short.
  [[nodiscard]] CuptiFailure start(CUcontext context, std::size_t most_ranges);
  /// A range begins, or ends, on this thread; with Ranges::as_called, one after the other. Whether CUPTI took it.
  [[nodiscard]] bool begin_range(std::size_t number);
  [[nodiscard]] bool end_range();
  /// Ends it, and reads values().
  [[nodiscard]] CuptiFailure stop();

  [[nodiscard]] std::size_t most_ranges() const noexcept { return most_; }
  [[nodiscard]] bool as_called() const noexcept { return ranges_ == Ranges::as_called; }
  /// Of each range, in the order in which they ran.
  [[nodiscard]] std::span<const CounterValues> values() const noexcept { return values_; }
  /// Ranges for which there was no room.
  [[nodiscard]] std::size_t dropped() const noexcept { return dropped_; }

 private:
  [[nodiscard]] CuptiFailure enable(CUcontext context);
  void disable();
  [[nodiscard]] CuptiFailure make_image();
  [[nodiscard]] CuptiFailure configure_and_start();
  [[nodiscard]] CuptiFailure decode();
  [[nodiscard]] std::span<std::uint8_t> image() noexcept { return {image_.get(), image_bytes_}; }

  const RangeProfilerFunctions& f_;
  HostMetrics& metrics_;
  const Ranges ranges_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::unique_ptr<std::uint8_t, decltype(&std::free)> image_{nullptr, &std::free};
  std::size_t image_bytes_ = 0;
  std::size_t most_ = 0;
  std::size_t dropped_ = 0;
  std::vector<CounterValues> values_;
};

}  // namespace ridgeline::inject::RL_CUPTI
