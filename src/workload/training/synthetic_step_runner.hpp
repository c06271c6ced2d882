// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/random.hpp"
#include "workload/synthetic/virtual_clock.hpp"
#include "workload/training/step_runner.hpp"
#include "workload/training/synthetic_step_options.hpp"

namespace ridgeline::workload {

/// Noise-free phases of a steady step under the settings; wall_ms is their sum.
[[nodiscard]] schema::StepPhases synthetic_phases(const SyntheticStepOptions& options,
                                                  const schema::TrainingSettings& settings, schema::DataMode data,
                                                  bool on_cpu);

/// Memory that the settings take, in GB.
[[nodiscard]] double synthetic_memory_gb(const SyntheticStepOptions& options, const schema::TrainingSettings& settings,
                                         schema::DataMode data);

/// A training step whose times follow a known formula, on a clock of its own that only it moves: minutes of training
/// take milliseconds. Equal options and spec (repeat included) give equal times.
class SyntheticStepRunner final : public StepRunner {
 public:
  SyntheticStepRunner(SyntheticStepOptions options, std::shared_ptr<const VirtualClock> clock)
      : options_(std::move(options)), clock_(std::move(clock)), random_(1) {}

  [[nodiscard]] StepResult<void> prepare(const schema::TrainingTrialSpec& spec) override;
  [[nodiscard]] StepResult<StepWindow> run(std::int64_t steps) override;
  [[nodiscard]] StepResult<void> reset_peaks() override;
  [[nodiscard]] StepResult<schema::TrainingResources> resources() override;
  void close() noexcept override {}
  [[nodiscard]] const base::Clock& clock() const noexcept override { return *clock_; }

 private:
  [[nodiscard]] StepResult<void> show_fault(schema::TrialPhase phase) const;
  [[nodiscard]] schema::StepPhases next_step();

  SyntheticStepOptions options_;
  std::shared_ptr<const VirtualClock> clock_;
  base::Random random_;
  schema::TrainingTrialSpec spec_;
  bool on_cpu_ = false;
  bool timed_ = false;        ///< reset_peaks was called: warm-up is over
  std::int64_t steps_ = 0;    ///< in all
  std::int64_t counted_ = 0;  ///< since reset_peaks
  double counted_ms_ = 0;
};

/// A factory for the kind "synthetic"; all its runners share `clock`.
[[nodiscard]] StepRunnerFactory make_synthetic_steps(std::shared_ptr<const VirtualClock> clock);

}  // namespace ridgeline::workload
