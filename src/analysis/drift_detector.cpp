// SPDX-License-Identifier: Apache-2.0
#include "analysis/drift_detector.hpp"
#include "stats/interval.hpp"
#include "stats/quantile.hpp"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/normal.hpp>

namespace ridgeline::analysis {
namespace {

constexpr double kUsualDeviation = 0.02;
constexpr double kLeastDeviation = 0.005;
constexpr std::size_t kStepsToTrust = 8;      // fewer differences say less than the usual deviation
constexpr std::ptrdiff_t kProbesOfAlarm = 3;  // at least so many, see below
constexpr double kLargestShare = 0.34;        // of the alarm level, that one probe may add: three in a row are one
constexpr double kLargestOffset = 1.0 / 3;    // of the threshold
/// The median of |N(0, 1)|, and a difference has twice the variance of a probe.
constexpr double kMedianStepOfUnit = 0.6744897501960817 * 1.4142135623730951;

void keep(std::vector<double>& list, double value) {
  if (list.size() == DriftDetector::kKept) list.erase(list.begin());
  list.push_back(value);
}

}  // namespace

double DriftDetector::alarm_level() const {
  return std::log(std::max(2.0, options_.horizon_probes) / (1 - options_.confidence));
}

double DriftDetector::probe_deviation() const {
  if (state_.steps.size() < kStepsToTrust) return kUsualDeviation;
  return std::max(kLeastDeviation, stats::quantile(state_.steps, 0.5) / kMedianStepOfUnit);
}

double DriftDetector::offset() const {
  if (state_.level.size() < kStepsToTrust) return 0;
  return std::clamp(stats::quantile(state_.level, 0.5), 0.0, std::log1p(options_.threshold) * kLargestOffset);
}

std::optional<double> DriftDetector::recent_level() const {
  if (state_.since.size() < kStepsToTrust) return std::nullopt;
  return stats::quantile({state_.since.end() - static_cast<std::ptrdiff_t>(kStepsToTrust), state_.since.end()}, 0.5);
}

double DriftDetector::evidence_of(double x) const {
  const double shift = std::log1p(options_.threshold);
  const double deviation = probe_deviation();
  return (x - offset() - shift / 2) * shift / (deviation * deviation);
}

bool DriftDetector::is_doubtful(double ratio) const {
  if (state_.degraded || !(ratio > 0) || !std::isfinite(ratio)) return false;
  const double evidence = evidence_of(std::log(ratio));
  return evidence > 0 && evidence < alarm_level() * kLargestShare;
}

DriftEvent DriftDetector::observe(double ratio, double worth) {
  if (!(ratio > 0) || !std::isfinite(ratio)) return DriftEvent::none;
  const double x = std::log(ratio);
  const double evidence = worth * evidence_of(x);  // before this probe changes what the noise and the offset are
  const double level = alarm_level();
  const double shift = std::log1p(options_.threshold);
  const double deviation = probe_deviation();
  const double weight = worth * shift / (deviation * deviation);
  const double above = x - offset();
  const double most = level * kLargestShare;
  const bool single = worth == 1;
  if (single && state_.last) keep(state_.steps, std::abs(x - *state_.last));
  state_.last = single ? std::optional(x) : std::nullopt;
  if (!state_.degraded) keep(state_.level, x);

  if (!state_.degraded) {
    state_.rising = std::max(0.0, state_.rising + std::min(evidence, most));
    if (state_.rising == 0)
      state_.since.clear();
    else
      keep(state_.since, x);
    if (state_.rising < level) return DriftEvent::none;
    state_.degraded = true;
    state_.falling = state_.worsening = 0;
    return DriftEvent::degraded;
  }
  if (const auto usual = recent_level()) {
    state_.worsening = std::max(0.0, state_.worsening + std::min((x - *usual - shift / 2) * weight, most));
    if (state_.worsening >= level) {
      keep(state_.since, x);
      state_.since.erase(state_.since.begin(), state_.since.end() - kProbesOfAlarm);
      state_.worsening = state_.falling = 0;
      return DriftEvent::worse;
    }
  }
  keep(state_.since, x);
  state_.falling = std::max(0.0, state_.falling + std::min((shift / 4 - above) * weight, most));
  if (state_.falling < level) return DriftEvent::none;
  state_.degraded = false;
  state_.rising = state_.falling = state_.worsening = 0;
  state_.since.clear();
  return DriftEvent::recovered;
}

double horizon_probes(double every_s) noexcept {
  constexpr double kWeekS = 7 * 24 * 3600;
  constexpr double kLeast = 100;
  return std::max(kLeast, kWeekS / every_s);
}

double DriftDetector::slow_down() const {
  return state_.since.empty() ? 1 : std::exp(stats::quantile(state_.since, 0.5));
}

std::optional<stats::Interval> DriftDetector::slow_down_interval() const {
  if (state_.since.size() < 3) return std::nullopt;
  const double quantile_of_unit = boost::math::quantile(boost::math::normal(), 0.5 + options_.confidence / 2);
  // The median of n normal values is pi/2 as variable as their mean.
  const double half =
      quantile_of_unit * probe_deviation() * std::sqrt(1.5707963267948966 / static_cast<double>(state_.since.size()));
  const double middle = std::log(slow_down());
  return stats::Interval{std::exp(middle - half), std::exp(middle + half)};
}

RL_DEFINE_JSON(DriftDetector::State, rising, falling, degraded, since, steps, last, level)

}  // namespace ridgeline::analysis
