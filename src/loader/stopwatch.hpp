// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

namespace ridgeline::loader {

/// Adds the time from its making to its end to a counter of seconds.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds), begin_(base::system_clock().now()) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { seconds_ += base::to_seconds(base::system_clock().now() - begin_); }

 private:
  double& seconds_;
  base::Nanoseconds begin_;
};

}  // namespace ridgeline::loader
