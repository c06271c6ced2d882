// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "counter_failure.hpp"
#include "cupti_library.hpp"

namespace ridgeline::inject::RL_CUPTI {

/// Which of CUPTI's metrics are counted on a chip, all in one pass: no launch runs twice.
class HostMetrics {
 public:
  explicit HostMetrics(const RangeProfilerFunctions& functions) : f_(functions) {}
  HostMetrics(const HostMetrics&) = delete;
  HostMetrics& operator=(const HostMetrics&) = delete;
  ~HostMetrics() { end(); }

  /// Takes as many as one pass counts, bytes before the others. `availability`: CUPTI's image of the
  /// counters that the GPU has.
  [[nodiscard]] CuptiFailure choose(const std::string& chip, std::span<const std::uint8_t> availability);

  // After that:
  [[nodiscard]] std::span<const char*> names() noexcept { return names_; }
  [[nodiscard]] std::span<const std::uint8_t> config() const noexcept { return config_; }
  [[nodiscard]] CuptiFailure evaluate(std::span<const std::uint8_t> image, std::size_t range, CounterValues& out);

 private:
  [[nodiscard]] CuptiFailure begin(const std::string& chip, std::span<const std::uint8_t> availability);
  void end();
  /// Passes that counting names_ takes, and config_ for them.
  [[nodiscard]] CuptiFailure configure(std::size_t& passes);

  const RangeProfilerFunctions& f_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<const char*> names_;
  std::vector<double CounterValues::*> fields_;  ///< of each name
  std::vector<std::uint8_t> config_;
};

}  // namespace ridgeline::inject::RL_CUPTI
