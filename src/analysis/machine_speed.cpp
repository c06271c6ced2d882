// SPDX-License-Identifier: Apache-2.0
#include "analysis/machine_speed.hpp"

#include <algorithm>
#include <cmath>

#include "stats/interval.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::analysis {
namespace {

constexpr double kMedianOfSquare = 0.4549;  // of a standard normal value
constexpr double kQuietShare = 0.1;         // of the readings, that may be faster: they are off, too
constexpr double kQuietErrors = 3;          // of one reading, above which the quiet level surely is
constexpr double kNotableSlowdown = 0.08;   // in log
constexpr double kSureErrors = 3;
constexpr double kLeastGapS = 1e-3;
constexpr double kLeastError = 0.003;  // two sessions, or two moments, are never quite alike

double error_of(const schema::SpeedReading& reading) {
  return std::max(kLeastError, stats::log_error(reading.low, reading.high));
}

}  // namespace

MachineSpeed::MachineSpeed(std::vector<schema::SpeedReading> readings) {
  std::erase_if(readings, [](const auto& reading) { return !(reading.cost > 0); });
  if (readings.empty()) return;
  std::sort(readings.begin(), readings.end(), [](const auto& a, const auto& b) { return a.at_s < b.at_s; });
  const auto count = readings.size();
  std::vector<double> seen(count);
  std::vector<double> noise(count);
  for (std::size_t i = 0; i < count; ++i) {
    seen[i] = std::log(readings[i].cost);
    noise[i] = error_of(readings[i]) * error_of(readings[i]);
  }
  std::vector<double> walks;
  const auto gap = [&](std::size_t i) { return std::max(kLeastGapS, readings[i + 1].at_s - readings[i].at_s); };
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const double change = seen[i + 1] - seen[i];
    walks.push_back(std::max(0.0, change * change - noise[i] - noise[i + 1]) / gap(i));
  }
  if (!walks.empty()) usual_walk_ = stats::median(walks) / kMedianOfSquare;

  // Forwards (Kalman) ...
  states_.resize(count);
  std::vector<double> predicted(count);  // variance before the reading
  for (std::size_t i = 0; i < count; ++i) {
    auto& state = states_[i];
    state.at_s = readings[i].at_s;
    state.walk = i + 1 < count ? std::max(usual_walk_, walks[i]) : usual_walk_;
    if (i == 0) {
      state.log_cost = seen[i];
      state.variance = noise[i];
      continue;
    }
    predicted[i] = states_[i - 1].variance + states_[i - 1].walk * gap(i - 1);
    const double gain = predicted[i] / (predicted[i] + noise[i]);
    state.log_cost = states_[i - 1].log_cost + gain * (seen[i] - states_[i - 1].log_cost);
    state.variance = predicted[i] * (1 - gain);
  }
  // ... and backwards (Rauch, Tung and Striebel).
  for (std::size_t i = count - 1; i-- > 0;) {
    auto& state = states_[i];
    const double gain = predicted[i + 1] > 0 ? state.variance / predicted[i + 1] : 0;
    state.log_cost += gain * (states_[i + 1].log_cost - state.log_cost);
    state.variance += gain * gain * (states_[i + 1].variance - predicted[i + 1]);
  }
  std::vector<double> levels;
  for (const auto& state : states_) levels.push_back(state.log_cost);
  const auto at = static_cast<std::ptrdiff_t>(kQuietShare * static_cast<double>(count - 1));
  std::nth_element(levels.begin(), levels.begin() + at, levels.end());
  quiet_ = levels[static_cast<std::size_t>(at)];
  // Quiet moments may be rare: what one of them surely reached.
  for (const auto& state : states_)
    quiet_ = std::min(quiet_, state.log_cost + kQuietErrors * std::sqrt(state.variance));
}

MachineSpeed::Estimate MachineSpeed::at(double at_s) const {
  const auto next = std::lower_bound(states_.begin(), states_.end(), at_s,
                                     [](const State& state, double moment) { return state.at_s < moment; });
  if (next == states_.begin() || next == states_.end()) {
    const auto& edge = next == states_.begin() ? states_.front() : states_.back();
    return {edge.log_cost, std::sqrt(edge.variance + usual_walk_ * std::abs(at_s - edge.at_s))};
  }
  const auto& before = *(next - 1);
  const double gap = next->at_s - before.at_s;
  const double share = gap > 0 ? (at_s - before.at_s) / gap : 1;
  const double log_cost = (1 - share) * before.log_cost + share * next->log_cost;
  // A Brownian bridge, and what is not known of its ends.
  const double variance = (1 - share) * (1 - share) * before.variance + share * share * next->variance +
                          before.walk * gap * share * (1 - share);
  return {log_cost, std::sqrt(variance)};
}

double MachineSpeed::wander() const noexcept { return std::sqrt(usual_walk_); }

bool is_slow(const schema::SpeedReading& reading, const MachineSpeed& speed) {
  const auto seen = speed.at(reading.at_s);
  return seen.log_cost - speed.quiet_log_cost() > std::max(kNotableSlowdown, kSureErrors * seen.error);
}

bool was_uneven(const schema::TuneRun& run) {
  if (!run.speed) return false;
  return std::any_of(run.speed->tracks.begin(), run.speed->tracks.end(), [](const auto& track) {
    const MachineSpeed speed(track.readings);
    return std::any_of(track.readings.begin(), track.readings.end(),
                       [&](const auto& reading) { return is_slow(reading, speed); });
  });
}

}  // namespace ridgeline::analysis
