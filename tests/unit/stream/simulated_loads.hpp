// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "stream/load_schedule.hpp"
#include "stream/simulation.hpp"

namespace ridgeline::stream {

inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000'000'000;

/// A model on a device, with the latency limit that its users have.
struct SimulatedCase {
  std::string name;
  DeviceModel device;
  std::uint32_t max_batch = 1;
  std::int64_t slo_ns = 0;

  /// Batches a second times their size, when all are full.
  [[nodiscard]] double full_rate() const { return max_batch * 1e9 / (device.alpha_ns + device.beta_ns * max_batch); }
};

inline void PrintTo(const SimulatedCase& simulated, std::ostream* out) { *out << simulated.name; }

/// As a part of a test's name.
inline std::string test_name(const SimulatedCase& simulated) {
  auto name = simulated.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

/// Times scatter by 1 %, as those of a GPU that is not throttled.
inline const std::vector<SimulatedCase> kSimulatedCases{
    {"detector 27", {3e6, 1e6, 0.01}, 27, 60 * kMillisecond},
    {"detector 32", {3e6, 1e6, 0.01}, 32, 80 * kMillisecond},
    {"classifier", {1e6, 5e4, 0.01}, 64, 15 * kMillisecond},
    {"one at a time", {0, 5e6, 0.01}, 1, 50 * kMillisecond},
};

inline SimulationOptions options_of(const SimulatedCase& simulated) {
  SimulationOptions options;
  options.dispatcher.max_batch = simulated.max_batch;
  options.dispatcher.capacity = 1024;
  options.device = simulated.device;
  options.slo_ns = simulated.slo_ns;
  return options;
}

inline std::vector<Arrival> poisson_arrivals(double rate_per_s, std::size_t frames, std::uint64_t seed = 1) {
  const auto duration_ns = static_cast<std::int64_t>(static_cast<double>(frames) / rate_per_s * 1e9);
  return make_schedule({{.process = ArrivalProcess::poisson, .rate_per_s = rate_per_s}}, duration_ns, seed).value();
}

}  // namespace ridgeline::stream
