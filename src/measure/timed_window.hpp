// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/round_watch.hpp"
#include "measure/concurrent_runner.hpp"
#include "measure/throttle_guard.hpp"
#include "schema/measurement.hpp"

namespace ridgeline::measure {

/// The timed inferences of one measurement. Without a watch every round counts. With one, rounds are gathered into
/// parts of at least kLeastPartS, the GPU is asked about each part after it, and a ThrottleGuard says which parts
/// count.
class TimedWindow {
 public:
  /// Rounds must end this often for the guard to be granular.
  static constexpr double kLongestRoundS = 0.2;
  static constexpr double kLeastPartS = 0.1;

  /// `watch` may be nullptr. `budget_s`: of the whole window. Starts the watch's timing.
  TimedWindow(ConcurrentRunner& runner, gpu::RoundWatch* watch, double budget_s);

  /// The longest that the next round may take; `left_s`: of the budget.
  [[nodiscard]] std::optional<base::Nanoseconds> round_limit(std::optional<double> left_s) const;
  /// Whether to go on to `target` inferences per caller before statistics are computed: watched rounds are cut short,
  /// and more looks would mean more chances to stop on a lucky streak.
  [[nodiscard]] bool short_of(std::int64_t target, std::optional<double> left_s) const;

  /// Adds the runner's last round.
  void add_round();
  /// Judges what has not been judged yet. False when inferences were taken away or put back, so that a decision to stop
  /// must be made again.
  [[nodiscard]] bool settle();
  /// Ends the watch's timing and adds flags. `items_per_inference`: for energy per item.
  void finish(double items_per_inference, std::vector<schema::QualityFlag>& flags);

  /// Latencies that count, in order of time; the part that is not judged yet included.
  [[nodiscard]] const std::vector<double>& samples() const noexcept { return samples_; }
  [[nodiscard]] std::vector<double> take_samples() noexcept { return std::move(samples_); }
  [[nodiscard]] std::int64_t done_per_caller() const noexcept;
  [[nodiscard]] double elapsed_s() const noexcept;
  [[nodiscard]] double window_ns() const;

 private:
  struct Part {
    std::size_t count = 0;  ///< samples
    std::int64_t done_per_caller = 0;
    double elapsed_s = 0;
    std::vector<ConcurrentRunner::CallerSpan> spans;
    bool kept = true;
    std::vector<double> aside;  ///< the samples while they do not count
  };

  [[nodiscard]] bool close_part();
  [[nodiscard]] bool apply_verdicts();

  ConcurrentRunner& runner_;
  gpu::RoundWatch* watch_;
  ThrottleGuard guard_;
  std::optional<int> neighbours_before_;
  std::vector<Part> parts_{1};  ///< the last one is open
  std::vector<double> samples_;
  double inferences_ = 0;  ///< in all callers, counted or not
};

}  // namespace ridgeline::measure
