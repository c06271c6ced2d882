// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/summary.hpp"
#include "base/json.hpp"
#include "stats/interval.hpp"

namespace ridgeline::analysis {

/// What a stream of probes has come to.
enum class DriftEvent { none, degraded, worse, recovered };

/// DriftDetector::Options::horizon_probes of a service that is probed every so many seconds: a week of them, or 100.
[[nodiscard]] double horizon_probes(double every_s) noexcept;

/// Whether a service has become slower than its baseline, decided over as many probes as that takes: Page's CUSUM test
/// (Biometrika 41, 1954) on x = ln(probe's median / baseline's median) - offset. S = max(0, S + (x - d/2) d / s^2),
/// d = ln(1 + threshold), s the standard deviation of a probe, and an alarm when S reaches h. The mean time between
/// false alarms is at least exp(h) probes (Lorden, Ann. Math. Statist. 42, 1971), so h = ln(horizon / (1 - confidence))
/// keeps the chance of one within the horizon below 1 - confidence. A shift of less than half the threshold never adds
/// up. No probe counts for more than 34 % of h: one outlier, or two, are no alarm. The offset is the median of the last
/// probes while all was well, at least 0 and at most d/3: a baseline from another process, or a machine's day, is a few
/// percent off without anything being wrong. The way back is the same test against d/4, so that a service on the edge
/// does not come and go. While degraded the same test runs against the median
/// of the last eight probes: what comes on top is reported as worse. Pure; not thread-safe.
class DriftDetector {
 public:
  struct Options {
    double threshold = 0.10;        ///< slow-down to be found; in (0, 10]
    double confidence = 0.99;       ///< in (0, 1)
    double horizon_probes = 10080;  ///< a week of probes a minute apart
  };

  /// Everything that must survive a restart.
  struct State {
    double rising = 0;   ///< S above
    double falling = 0;  ///< the same for the way back, while degraded
    bool degraded = false;
    std::vector<double> since;  ///< x of the probes since S last was 0, at most kKept
    std::vector<double> steps;  ///< |x - x of the probe before|, the last kKept; what s is estimated from
    std::optional<double> last;
    std::vector<double> level;  ///< ln(ratio) of the last kKept probes while not degraded; what the offset comes from
    double worsening = 0;       ///< the same as rising, while degraded
  };

  static constexpr std::size_t kKept = 60;

  explicit DriftDetector(const Options& options) : options_(options) {}
  DriftDetector(const Options& options, State state) : options_(options), state_(std::move(state)) {}

  /// `ratio`: probe's median over the baseline's, above 1 is slower. What is not a positive number is passed over.
  /// `worth`: as many single probes as the figure is as certain as, at least 1; only single ones tell the deviation.
  [[nodiscard]] DriftEvent observe(double ratio, double worth = 1);
  /// Whether further probes at once would say more than this one: it speaks for an alarm, but within its noise.
  [[nodiscard]] bool is_doubtful(double ratio) const;

  [[nodiscard]] const State& state() const noexcept { return state_; }
  /// Standard deviation of ln(ratio) from probe to probe, from the differences of neighbours, so that neither a shift
  /// nor an outlier moves it much; 0.02 before anything is known, never below 0.005.
  [[nodiscard]] double probe_deviation() const;
  /// See above; 0 before kept probes are enough to tell.
  [[nodiscard]] double offset() const;
  /// Median ratio of the probes since the change began; 1 without one.
  [[nodiscard]] double slow_down() const;
  /// At `confidence`, from the same probes; nullopt with fewer than three.
  [[nodiscard]] std::optional<stats::Interval> slow_down_interval() const;

 private:
  [[nodiscard]] double alarm_level() const;
  /// What a probe with that x adds to S before it is bounded.
  [[nodiscard]] double evidence_of(double x) const;
  [[nodiscard]] std::optional<double> recent_level() const;

  Options options_;
  State state_;
};
RL_DECLARE_JSON(DriftDetector::State)

}  // namespace ridgeline::analysis
