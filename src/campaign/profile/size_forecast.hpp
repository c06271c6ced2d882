// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "campaign/profile/record_options.hpp"
#include "trace/record/recorded_process.hpp"

namespace ridgeline::campaign {

/// A recording that will end at --max-size, or at the number of events that can be read.
struct SizeWarning {
  double bytes = 0;               ///< so far
  double bytes_per_s = 0;         ///< lately
  std::optional<double> in_all;   ///< expected of --steps or --duration; nullopt: the program runs to its end
  std::optional<double> seconds;  ///< until --max-size is reached
  bool of_events = false;         ///< their number ends it, before --max-size does
};

/// Foresees, from what the processes of a program report while they run, whether a recording outgrows --max-size.
class SizeForecast {
 public:
  explicit SizeForecast(const RecordOptions& options) : options_(options) {}

  /// A process as it is now. The first time one will outgrow the size; nullopt otherwise.
  [[nodiscard]] std::optional<SizeWarning> add(const trace::RecordedProcess& process);

 private:
  struct Sample {
    std::int64_t bytes = 0;
    std::int64_t time_ns = 0;
    std::int64_t steps = 0;
  };

  const RecordOptions options_;
  std::map<std::int64_t, Sample> first_;  ///< with events, by process
  bool has_warned_ = false;
};

}  // namespace ridgeline::campaign
