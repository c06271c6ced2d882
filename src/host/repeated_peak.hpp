// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace ridgeline::host {

/// What something reaches at best, from measurements of its rate. Others on the machine only make a rate smaller, so it
/// is known once the two highest are alike; a high one that was seen once may be chance.
class RepeatedPeak {
 public:
  void add(double rate) { rates_.push_back(rate); }
  /// There are three, and the two highest differ by at most 10 %.
  [[nodiscard]] bool repeats() const;
  /// The highest; 0 as long as it does not repeat.
  [[nodiscard]] double value() const;
  /// All, in units of `unit`.
  [[nodiscard]] std::vector<double> rates(double unit) const;

 private:
  std::vector<double> rates_;
};

}  // namespace ridgeline::host
