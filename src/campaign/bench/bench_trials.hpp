// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "campaign/bench/bench_campaign.hpp"
#include "campaign/budget.hpp"
#include "campaign/run_frame.hpp"
#include "campaign/spread.hpp"

namespace ridgeline::campaign {

/// Makes the trials of one training run: from the store where it knows them, else on the executor's slots; records them
/// at once.
class BenchTrials {
 public:
  /// Begins the run. All must outlive the object.
  BenchTrials(execute::Executor& executor, store::Store& store, BenchObserver& observer,
              const std::function<bool()>& cancelled, const BenchRequest& request, schema::BenchRun& run);
  BenchTrials(const BenchTrials&) = delete;
  BenchTrials& operator=(const BenchTrials&) = delete;

  /// `time_s`: what is left of --max-time for timing it, where that is less than the plan has. It is no part of the
  /// trial's key, so that a whole stability run answers for every one that is cut.
  [[nodiscard]] base::Result<schema::TrainingOutcome> make(schema::BenchTrial trial, const schema::TrainingPlan& plan,
                                                           std::size_t remaining,
                                                           std::optional<double> time_s = std::nullopt);
  /// Side by side where the slots allow it; outcomes in their order.
  [[nodiscard]] base::Result<std::vector<schema::TrainingOutcome>> make_all(
      std::vector<schema::BenchTrial> trials, const schema::TrainingPlan& plan, std::size_t remaining,
      std::optional<double> time_s = std::nullopt);
  /// One trial with further options of the job, which is stored and is no trial of the run.
  [[nodiscard]] base::Result<schema::TrainingOutcome> measure_aside(const schema::TrainingSettings& settings,
                                                                    const std::map<std::string, std::string>& options,
                                                                    int repeat);
  /// How many trials are worth giving to make_all at once.
  [[nodiscard]] std::size_t width() const { return spread_.width(); }
  /// Whether the results file holds the whole stability run, so that it takes no time.
  [[nodiscard]] bool stability_run_before(const schema::BenchTrial& trial, const schema::TrainingPlan& plan);
  /// Whether there was nothing but settings that are not possible with this data or device.
  [[nodiscard]] bool all_refused() const;
  [[nodiscard]] const Budget& budget() const noexcept { return budget_; }
  /// Ends the run, and saves it.
  [[nodiscard]] base::Result<void> end();

 private:
  [[nodiscard]] schema::TrainingTrialSpec spec_of(const schema::BenchTrial& trial,
                                                  const schema::TrainingPlan& plan) const;
  /// Whether the time ended a stability run before its steps were done.
  [[nodiscard]] static bool cut(const schema::BenchTrial& trial, const schema::TrainingPlan& plan,
                                const schema::TrainingOutcome& outcome);
  [[nodiscard]] schema::Message why_cut(double limit_s, const schema::TrainingPlan& plan) const;
  /// A trial of the current settings, or of the first that went well.
  [[nodiscard]] Spread::Check interference_check();

  execute::Executor& executor_;
  store::Store& store_;
  BenchObserver& observer_;
  const std::function<bool()>& cancelled_;
  const BenchRequest& request_;
  schema::BenchRun& run_;
  Budget budget_;
  RunFrame<schema::BenchRun> frame_;
  Spread spread_;
};

}  // namespace ridgeline::campaign
