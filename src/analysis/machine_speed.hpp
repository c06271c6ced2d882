// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// How fast the machine was over a run, from the times that one reference configuration took at moments of it: a local
/// level model (Durbin and Koopman, Time Series Analysis by State Space Methods, 2nd ed., chapter 2), a random walk of
/// log time seen through each reading's own error, smoothed forwards and backwards. The walk's variance a second is the
/// robust one of the whole run, in each interval at least what the readings at its ends ask for: between two that
/// differ nobody knows when the machine changed, and the estimate says so. O(n) after sorting.
class MachineSpeed {
 public:
  /// Log of the reference's cost at a moment, and its standard error.
  struct Estimate {
    double log_cost = 0;
    double error = 0;
  };

  /// Readings of one device slot, in any order.
  explicit MachineSpeed(std::vector<schema::SpeedReading> readings);

  [[nodiscard]] bool empty() const noexcept { return states_.empty(); }
  /// `at_s`: seconds since the run began; before the first and after the last reading the error grows. Not of an empty
  /// one.
  [[nodiscard]] Estimate at(double at_s) const;
  /// Log cost of the reference on the quiet machine: what a tenth of the readings reach, or less where one surely did.
  /// 0 of an empty one.
  [[nodiscard]] double quiet_log_cost() const noexcept { return quiet_; }
  /// Standard deviation that the walk gathers in a second while nothing happens.
  [[nodiscard]] double wander() const noexcept;

 private:
  struct State {
    double at_s = 0;
    double log_cost = 0;
    double variance = 0;
    double walk = 0;  ///< variance a second up to the next state
  };
  std::vector<State> states_;
  double usual_walk_ = 0;
  double quiet_ = 0;
};

/// Whether a reading of a slot with that curve was taken while the machine was notably slower than the quiet one.
[[nodiscard]] bool is_slow(const schema::SpeedReading& reading, const MachineSpeed& speed);
/// Whether any reading of the run was.
[[nodiscard]] bool was_uneven(const schema::TuneRun& run);

}  // namespace ridgeline::analysis
