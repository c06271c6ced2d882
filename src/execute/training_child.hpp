// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "execute/json_child.hpp"
#include "workload/training/step_runner.hpp"

namespace ridgeline::execute {

/// A step runner in a process of its own:
///   {"op":"describe","target":T}                  -> {"ok":{"runtime":..., "cuda":true, "source_sha256":...}}
///   {"op":"prepare","spec":TrainingTrialSpec}     -> {"ok":{}}
///   {"op":"run","steps":N}                        -> {"ok":{"steps":[[7 numbers, schema::StepPhases in
///   order]..],"wall_ms":..}}, with "samples":N where each batch was seen to hold what was set
///   {"op":"reset"}                                -> {"ok":{}}
///   {"op":"resources"}                            -> {"ok":TrainingResources, with "notes":{code:schema::Message}
///   and "loss_not_finite":true for a NaN loss}
///   {"op":"transforms"}                           -> {"ok":{"sample_ms":.., "transforms":[[name, ms]..]}}, after
///   prepare
///   {"op":"release"}                              -> {"ok":{"kept":true}}: the trial is over and nothing is left of
///   it, another may be prepared; false, or an error from a child that does not know it: it may not
///   {"op":"close"}                                -> {"ok":{}}, then the child ends
class TrainingChild final : public workload::StepRunner {
 public:
  explicit TrainingChild(JsonChildOptions options) : child_(std::move(options)) {}

  /// One request before any trial; starts the process when there is none.
  [[nodiscard]] workload::StepResult<base::Json> ask(const base::Json& request, double limit_s) {
    return child_.ask(request, limit_s);
  }

  [[nodiscard]] workload::StepResult<void> prepare(const schema::TrainingTrialSpec& spec) override;
  [[nodiscard]] workload::StepResult<workload::StepWindow> run(std::int64_t steps) override;
  [[nodiscard]] workload::StepResult<void> reset_peaks() override;
  [[nodiscard]] workload::StepResult<schema::TrainingResources> resources() override;
  void close() noexcept override { child_.close(); }
  /// Whether the process runs.
  [[nodiscard]] bool lives() { return child_.lives(); }
  /// Asks the process to be ready for another trial. When it cannot, it is ended.
  [[nodiscard]] bool renew() noexcept override;

 private:
  JsonChild child_;
  schema::TrainingPlan plan_;
  std::int64_t batch_ = 0;
};

}  // namespace ridgeline::execute
