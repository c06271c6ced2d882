// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "workload/synthetic/synthetic_options.hpp"

namespace ridgeline::workload {

/// How many times as long as on a quiet machine everything takes at a moment: drift, steps and bursts of the options.
/// Equal options, configuration and seed give the same history, in whatever process and order it is asked for.
class MachineLoad {
 public:
  /// Only disturbances whose conditions hold for `configuration` count. `seed`: of when bursts come.
  MachineLoad(const SyntheticOptions& options, const schema::Configuration& configuration, std::uint64_t seed);

  /// `at`: since the run began, at least 0.
  [[nodiscard]] double factor(base::Nanoseconds at);

 private:
  /// Bursts and the pauses between them, both exponential.
  struct History {
    double size = 1;
    double mean_s = 0;   ///< of a burst
    double pause_s = 0;  ///< mean, between two
    base::Random random;
    std::vector<double> turns;  ///< when one begins, ends, begins ...
    std::size_t at = 0;         ///< turns up to the time asked for last
  };
  [[nodiscard]] static bool is_on(History& history, double at_s);

  double drift_;
  double drift_period_s_;
  std::vector<Step> steps_;
  std::vector<History> bursts_;
};

}  // namespace ridgeline::workload
