// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/speed_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "campaign/tune/busy_cpus.hpp"
#include "schema/execution_provider.hpp"
#include "stats/interval.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::campaign {

using base::Result;

namespace {

constexpr double kReadingShare = 0.08;    // of the run's time, for readings of an even machine
constexpr std::size_t kLately = 4;        // readings that say whether the machine is changing
constexpr double kNotable = 0.025;        // change of log time
constexpr double kSureErrors = 2.5;       // of the readings
constexpr double kAllowedErrors = 2;      // of the estimate
constexpr double kStale = 4;              // times what a reading takes
constexpr int kMostProbes = 5;            // of a wider configuration than the reference
constexpr double kPauseS = 1;             // between two readings of a machine that is waited for
constexpr double kLeastExtraS = 90;       // for waiting and measuring again, also in a short run, ...
constexpr double kLeastExtraTrials = 20;  // ... unless its trials are short as well
constexpr double kReferenceError = 0.01;  // of a first reading by another session: kRunToRunStdev

double log_error(const schema::SpeedReading& reading) { return stats::log_error(reading.low, reading.high); }

}  // namespace

void SpeedWatch::begin(const schema::TunedTrial& trial, const schema::TrialOutcome& outcome) {
  // Eager PyTorch launches kernel by kernel at the speed of a CPU thread, graphs and compiled code do not: what slows
  // the one on a GPU says nothing of the others.
  auto& run = result_.run;
  const auto& provider = schema::provider_of(run.provider);
  if (provider.compiles_calls && provider.on_gpu()) return;
  const double cpus = busy_cpus(run, trial.configuration);
  const double known_cpus = begun() ? busy_cpus(run, run.speed->reference) : 0;
  if (begun() &&
      (run.on_gpu() || cpus <= known_cpus || outcome.measurement->stop_reason == schema::StopReason::stopped_early))
    return;
  const auto& device = schema::device_of(run, trial);
  auto reading = runner_.reading_of(trial, outcome);
  reading.low *= 1 - 2 * kReferenceError;
  reading.high *= 1 + 2 * kReferenceError;
  if (begun() && reading.cost > quiet_cost(device)) {
    const bool explained = reading.cost < quiet_cost(device) * cpus / known_cpus;
    if (explained && !wider_) wider_ = Wider{trial.configuration, {{device, {reading}}}};
    return;
  }
  last_s_ = budget_.elapsed_s();
  reading_s_ = outcome.duration_s;
  refer_to(trial.configuration, {{device, {reading}}});
}

void SpeedWatch::refer_to(const schema::Configuration& configuration, std::vector<schema::SpeedTrack> tracks) {
  const int taken_again = begun() ? result_.run.speed->taken_again : 0;
  result_.run.speed = schema::SpeedRecord{configuration, {}, taken_again};
  curves_.clear();
  wider_.reset();
  ++reference_number_;
  for (const auto& track : tracks)
    for (const auto& reading : track.readings) add(track.device, reading);
}

Result<void> SpeedWatch::probe_wider() {
  const auto readings = runner_.read_speed(wider_->configuration);
  ++wider_->probes;
  if (!readings && readings.error().code != base::ErrorCode::out_of_time)
    return tl::unexpected<base::Error>(readings.error());
  bool is_faster = false;
  if (readings)
    for (const auto& [device, reading] : *readings) {
      is_faster = is_faster || reading.cost <= quiet_cost(device);
      auto& tracks = wider_->tracks;
      auto track = std::find_if(tracks.begin(), tracks.end(),
                                [&, &name = device](const auto& one) { return one.device == name; });
      if (track == tracks.end()) track = tracks.insert(tracks.end(), {device, {}});
      track->readings.push_back(reading);
    }
  if (is_faster) {
    const auto wider = *wider_;
    refer_to(wider.configuration, wider.tracks);
  } else if (wider_->probes >= kMostProbes) {
    wider_.reset();
  }
  return {};
}

bool SpeedWatch::is_due() const {
  if (!begun()) return false;
  const double since_s = budget_.elapsed_s() - last_s_;
  return is_unsteady() || wider_ ? !is_fresh() : since_s >= reading_s_ / kReadingShare;
}

bool SpeedWatch::is_stale() const { return begun() && budget_.elapsed_s() - last_s_ > kStale * reading_s_; }

bool SpeedWatch::is_fresh() const { return budget_.elapsed_s() - last_s_ < reading_s_ / 4; }

Result<void> SpeedWatch::read() {
  const double begun_s = budget_.elapsed_s();
  const auto readings = runner_.read_speed(result_.run.speed->reference);
  // What the time ends is no reading, and no reason to end the run.
  if (!readings && readings.error().code != base::ErrorCode::out_of_time)
    return tl::unexpected<base::Error>(readings.error());
  if (readings)
    for (const auto& [device, reading] : *readings) add(device, reading);
  if (wider_) RL_TRY(probe_wider());
  last_s_ = budget_.elapsed_s();
  reading_s_ = last_s_ - begun_s;
  return {};
}

void SpeedWatch::add(const std::string& device, const schema::SpeedReading& reading) {
  auto& tracks = result_.run.speed->tracks;
  auto found = std::find_if(tracks.begin(), tracks.end(), [&](const auto& one) { return one.device == device; });
  if (found == tracks.end()) found = tracks.insert(tracks.end(), {device, {}});
  found->readings.push_back(reading);
  curves_.insert_or_assign(device, analysis::MachineSpeed(found->readings));
}

bool SpeedWatch::is_unsteady() const {
  if (!begun()) return false;
  for (const auto& one : result_.run.speed->tracks) {
    const auto& readings = one.readings;
    const auto from = readings.size() > kLately ? readings.size() - kLately : 0;
    for (auto i = from; i + 1 < readings.size(); ++i) {
      const double error = std::hypot(log_error(readings[i]), log_error(readings[i + 1]));
      if (std::abs(std::log(readings[i + 1].cost / readings[i].cost)) > std::max(kNotable, kSureErrors * error))
        return true;
    }
  }
  return false;
}

double SpeedWatch::slowdown_now() const {
  double most = 0;
  if (begun())
    for (const auto& one : result_.run.speed->tracks)
      most = std::max(most, std::log(one.readings.back().cost) - curves_.at(one.device).quiet_log_cost());
  return most;
}

double SpeedWatch::largest_slowdown() const {
  double most = 0;
  if (begun())
    for (const auto& one : result_.run.speed->tracks) {
      const auto& curve = curves_.at(one.device);
      for (const auto& reading : one.readings)
        most = std::max(most, curve.at(reading.at_s).log_cost - curve.quiet_log_cost());
    }
  return most;
}

Result<double> SpeedWatch::wait_for_quiet(double most_s) {
  if (!begun()) return 0;
  const double begun_s = budget_.elapsed_s();
  const double until_s = begun_s + most_s;
  if (!is_fresh()) RL_TRY(read());
  while (is_slow_now() && budget_.elapsed_s() < until_s) {
    clock_.sleep_for(base::from_seconds(kPauseS));
    RL_TRY(read());
  }
  return budget_.elapsed_s() - begun_s;
}

double SpeedWatch::least_extra_s() const {
  return std::min(kLeastExtraS, kLeastExtraTrials * result_.run.plan.max_time_s);
}

double SpeedWatch::extra_left_s() const { return std::max(least_extra_s(), budget_.elapsed_s() - extra_s_) - extra_s_; }

bool SpeedWatch::is_even() const {
  if (!begun()) return true;
  for (const auto& one : result_.run.speed->tracks) {
    const auto& curve = curves_.at(one.device);
    for (const auto& reading : one.readings) {
      const auto seen = curve.at(reading.at_s);
      const double change = std::abs(seen.log_cost - curve.quiet_log_cost());
      if (change > std::max(kNotable, kSureErrors * seen.error)) return false;
    }
  }
  return true;
}

std::optional<SpeedWatch::Slowdown> SpeedWatch::at(const std::string& device, double at_s) const {
  const auto found = curves_.find(device);
  if (found == curves_.end() || found->second.empty()) return std::nullopt;
  const auto seen = found->second.at(at_s);
  return Slowdown{seen.log_cost - found->second.quiet_log_cost(), seen.error};
}

double SpeedWatch::quiet_cost(const std::string& device) const {
  const auto found = curves_.find(device);
  return found == curves_.end() ? 0 : std::exp(found->second.quiet_log_cost());
}

double SpeedWatch::lowest_quiet_cost() const {
  double lowest = std::numeric_limits<double>::infinity();
  for (const auto& [device, curve] : curves_) lowest = std::min(lowest, std::exp(curve.quiet_log_cost()));
  return lowest;
}

double SpeedWatch::quiet_error(const std::string& device) const {
  std::vector<double> errors;
  int quiet = 0;
  const double level = std::log(quiet_cost(device));
  for (const auto& one : result_.run.speed->tracks)
    if (one.device == device)
      for (const auto& reading : one.readings) {
        errors.push_back(log_error(reading));
        if (std::abs(std::log(reading.cost) - level) < kNotable + errors.back()) ++quiet;
      }
  return std::max(kReferenceError, stats::median(std::move(errors)) / std::sqrt(std::max(1, quiet)));
}

double SpeedWatch::allowance(const std::string& device) const {
  const auto now = at(device, budget_.elapsed_s());
  return now ? std::exp(now->log + kAllowedErrors * now->error) : 1;
}

}  // namespace ridgeline::campaign
