// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "schema/training_measurement.hpp"
#include "schema/training_trial.hpp"
#include "workload/failure_facts.hpp"

namespace ridgeline::workload {

template <typename T>
using StepResult = tl::expected<T, StepError>;

/// One window of steps.
struct StepWindow {
  std::vector<schema::StepPhases> steps;
  double wall_ms = 0;  ///< from before the first step until the device was done with the last, by the host's clock
};

/// Something that trains step by step under fixed settings: synthetic, a Python child, the LibTorch plugin. Life:
/// prepare once, run windows, resources, close. One thread.
class StepRunner {
 public:
  virtual ~StepRunner() = default;
  /// Builds model, optimizer and data source for the spec's settings and data mode. Called once. Errors that no other
  /// settings would fix (no such module, no torch, no such device) have the codes not_found or unavailable.
  [[nodiscard]] virtual StepResult<void> prepare(const schema::TrainingTrialSpec& spec) = 0;
  /// Runs that many whole steps. The device is waited for at the window's ends only.
  [[nodiscard]] virtual StepResult<StepWindow> run(std::int64_t steps) = 0;
  /// Resets peaks and counters, so that `resources` tells of the timed part.
  [[nodiscard]] virtual StepResult<void> reset_peaks() = 0;
  [[nodiscard]] virtual StepResult<schema::TrainingResources> resources() = 0;
  /// Gives everything back; quiet when there is nothing. Nothing may be called afterwards but `renew`.
  virtual void close() noexcept = 0;
  /// After close: makes this runner ready for another trial that finds nothing left of the one before. False: it
  /// cannot.
  [[nodiscard]] virtual bool renew() noexcept { return false; }
  /// The clock that measures trial durations: virtual for synthetic landscapes.
  [[nodiscard]] virtual const base::Clock& clock() const noexcept { return base::system_clock(); }
};

/// Makes a runner for a trial; the runner is prepared by the caller.
using StepRunnerFactory = std::function<base::Result<std::unique_ptr<StepRunner>>(const schema::TrainingTrialSpec&)>;

}  // namespace ridgeline::workload
