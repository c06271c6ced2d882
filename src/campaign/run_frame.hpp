// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "base/clock.hpp"
#include "campaign/budget.hpp"
#include "campaign/run_id.hpp"
#include "campaign/save_throttle.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// Fails with `cancelled` once `cancelled()` is true; an empty function never is.
[[nodiscard]] inline base::Result<void> check_cancelled(const std::function<bool()>& cancelled) {
  if (cancelled && cancelled()) return base::fail(base::ErrorCode::cancelled, "stopped by a signal");
  return {};
}

/// What runs of every kind have in common while they are made: a begin, an end, and a record that is saved as it grows.
template <typename Run>
class RunFrame {
 public:
  /// Begins the run. All must outlive the frame.
  RunFrame(store::Store& store, const base::Clock& clock, const Budget& budget, Run& run,
           const std::string& command_line)
      : store_(store), clock_(clock), budget_(budget), run_(run) {
    run.command_line = command_line;
    run.started_utc = clock.utc_now();
    run.id = make_run_id(base::system_clock(), run.started_utc, command_line);
  }

  /// Gives a trial that begins now its place in the run, behind `ahead` others that begin with it.
  template <typename Trial>
  void place(Trial& trial, std::string key, std::size_t ahead = 0) const {
    trial.id = static_cast<int>(run_.trials.size() + ahead) + 1;
    trial.key = std::move(key);
    trial.started_s = budget_.elapsed_s();
  }
  [[nodiscard]] base::Result<void> save_when_due() {
    return pace_.when_due([this] { return save(); });
  }
  /// Ends the run, and saves it.
  [[nodiscard]] base::Result<void> end() {
    run_.finished_utc = clock_.utc_now();
    return save();
  }

 private:
  [[nodiscard]] base::Result<void> save() {
    run_.duration_s = budget_.elapsed_s();
    return store_.save_run(to_run(run_));
  }

  store::Store& store_;
  const base::Clock& clock_;
  const Budget& budget_;
  Run& run_;
  SaveThrottle pace_{base::system_clock()};  // ids and saves belong to the real machine, whatever the run's clock
};

}  // namespace ridgeline::campaign
