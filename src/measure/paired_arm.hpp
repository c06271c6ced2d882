// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "schema/measurement.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::measure {

/// One block as an arm timed it.
struct TimedBlock {
  bool complete = false;  ///< false: cancelled
  std::vector<double> latency_ns;
  double wall_ns = 0;
  double settle_s = 0;  ///< before the first inference
  double discard_s = 0;
  double timed_s = 0;
};

/// What the process of an arm used so far.
struct ProcessUse {
  double cpu_s = 0;
  std::int64_t involuntary_switches = 0;  ///< in blocks
};

/// One arm of a comparison: a session that has run once and so has taken its memory, in this process or in another.
/// Errors of its calls: the workload's own.
class PairedArm {
 public:
  virtual ~PairedArm() = default;
  /// Runs until times are steady. A flag where they did not become so.
  [[nodiscard]] virtual base::Result<std::optional<schema::QualityFlag>> warm_up(
      const schema::MeasurementPlan& plan) = 0;
  /// Settles, discards and times, as the plan's parts about blocks say. After warm_up.
  [[nodiscard]] virtual base::Result<TimedBlock> run_block(const schema::PairedPlan& plan) = 0;
  [[nodiscard]] virtual double items_per_inference() const = 0;
  [[nodiscard]] virtual std::vector<schema::QualityFlag> flags() const = 0;
  /// Whether the system's clock times it, and not a virtual one.
  [[nodiscard]] virtual bool real_time() const = 0;
  /// Of the process that it runs in, where that is not this one.
  [[nodiscard]] virtual ProcessUse outside_use() const { return {}; }
};

using MakeArm = std::function<base::Result<std::unique_ptr<PairedArm>>()>;

}  // namespace ridgeline::measure
