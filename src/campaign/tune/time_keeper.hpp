// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/tune_budget.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::campaign {

/// What the time of a run goes to, in its record.
class TimeKeeper {
 public:
  using Phase = double schema::TimeSpent::*;

  /// Begins with what comes before the first trial. Both must outlive it.
  TimeKeeper(const TuneBudget& budget, schema::TuneRun& run) : budget_(budget), run_(run) {}

  /// All from now on belongs to that.
  void enter(Phase phase) {
    const double now_s = budget_.elapsed_s();
    if (!run_.time_spent) run_.time_spent.emplace();
    (*run_.time_spent).*phase_ += now_s - since_s_;
    since_s_ = now_s;
    phase_ = phase;
  }

  /// What went to that until now, in seconds.
  [[nodiscard]] double so_far(Phase phase) const {
    const double closed_s = run_.time_spent ? (*run_.time_spent).*phase : 0;
    return closed_s + (phase == phase_ ? budget_.elapsed_s() - since_s_ : 0);
  }

  /// The run was said to take that long, from its beginning to its end.
  void forecast(double all_s) {
    if (!run_.time_spent) run_.time_spent.emplace();
    run_.time_spent->forecast_s = all_s;
  }

 private:
  const TuneBudget& budget_;
  schema::TuneRun& run_;
  Phase phase_ = &schema::TimeSpent::preparation_s;
  double since_s_ = 0;
};

}  // namespace ridgeline::campaign
