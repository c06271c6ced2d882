// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/message.hpp"

namespace ridgeline::schema {

/// One reading of a GPU during a trial. What was not read at that moment or cannot be is nullopt.
struct GpuSample {
  double at_s = 0;  ///< since the trial began
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> temperature_c;
  std::optional<double> power_w;                  ///< as the driver averages it (over one second since Ampere)
  std::optional<double> utilization_percent;      ///< share of the time with at least one kernel running, by the driver
  std::optional<std::int64_t> memory_used_bytes;  ///< of the device, all processes and the driver's reserve
  std::optional<std::int64_t> process_memory_bytes;  ///< of the worker
  std::optional<std::uint64_t> clock_reasons;        ///< nvmlClocksEventReason bits, see clock_reason_names
};

/// Somebody else's process on the same GPU.
struct GpuNeighbour {
  std::int64_t pid = 0;
  std::optional<std::int64_t> memory_bytes;
};
RL_DECLARE_JSON(GpuNeighbour)

/// What a GPU did during one trial, from before prepare until the workload's memory was given back.
struct GpuTelemetry {
  /// Shorter windows have no energy: the counter moves in steps, an H200 showed 47 or 70 J for equal windows of 0.25 s.
  /// Over a second a step is 10 %.
  static constexpr double kLeastEnergyWindowS = 1;

  std::string uuid;
  std::vector<GpuSample> samples;  ///< in order of time; thinned out evenly beyond about 600
  double timed_from_s = 0;         ///< the timed window on the samples' time axis; both 0: nothing was timed
  double timed_to_s = 0;
  std::optional<double> sm_clock_mhz;  ///< median over the timed window
  std::optional<double> sm_clock_min_mhz;
  std::map<std::string, double> throttle_ns;  ///< by cause ("power", "thermal" ...), grown during the timed window; a
                                              ///< cause that the driver does not count is absent
  std::vector<std::string> clock_reasons;  ///< why clocks were throttled at some moment of the timed window, idleness
                                           ///< and clocks asked for by an application left out
  std::optional<double> busy;  ///< 0 to 1: time with any work over the timed window, counted by the card (GPM, Hopper
                               ///< and later)
  std::optional<double> energy_j;            ///< of the whole device over the timed window
  std::optional<double> energy_mj_per_item;  ///< that over every item of the window, pauses between rounds included
  std::optional<std::int64_t> memory_free_before_bytes;
  std::optional<std::int64_t> memory_free_after_bytes;  ///< after the workload ended; a pooled worker keeps its context
  std::optional<std::int64_t> process_peak_bytes;       ///< highest process_memory_bytes seen, or the driver's own mark
  std::optional<std::int64_t> device_used_before_bytes;
  std::optional<std::int64_t> device_used_idle_bytes;  ///< before the worker came to the card: a pooled one keeps its
                                                       ///< context from trial to trial
  std::optional<std::int64_t> device_peak_bytes;       ///< highest memory_used_bytes seen
  Message process_memory_note;  ///< why process memory is not known, or how the process was recognised
  std::vector<GpuNeighbour> neighbours_before;
  std::vector<GpuNeighbour> neighbours_after;
  double kept_s = 0;                  ///< timed rounds that count
  double discarded_s = 0;             ///< timed rounds thrown away because clocks were throttled
  std::int64_t discarded_rounds = 0;  ///< parts of the timed window, each of one or more rounds

  /// Peak of the worker: process_peak_bytes, else how far the device's use grew over what it was without the worker;
  /// nullopt when neither is known.
  [[nodiscard]] std::optional<std::int64_t> peak_bytes() const noexcept {
    if (process_peak_bytes) return process_peak_bytes;
    if (!device_peak_bytes || !device_used_before_bytes) return std::nullopt;
    return *device_peak_bytes -
           std::min(*device_used_before_bytes, device_used_idle_bytes.value_or(*device_used_before_bytes));
  }
};

/// "sw_power_cap", "hw_thermal_slowdown" ... of the bits that throttle the clocks; idleness, clocks asked for by an
/// application and the display are no throttling and left out.
[[nodiscard]] std::vector<std::string> clock_reason_names(std::uint64_t bits);

/// `samples` becomes columns: as objects a time line would repeat its keys hundreds of times.
void to_json(base::Json& out, const GpuTelemetry& telemetry);
void from_json(const base::Json& in, GpuTelemetry& telemetry);

}  // namespace ridgeline::schema
