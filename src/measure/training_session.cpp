// SPDX-License-Identifier: Apache-2.0
#include "measure/training_session.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "measure/messages.hpp"
#include "measure/steadiness.hpp"
#include "measure/stopping_criterion.hpp"
#include "measure/throttle_guard.hpp"
#include "ridgeline_train/messages.hpp"
#include "schema/message_renderer.hpp"
#include "stats/mean.hpp"
#include "stats/median_interval.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::measure {
namespace {

using schema::TrialPhase;
using workload::StepError;
using workload::StepWindow;

constexpr double kSteadyTolerance = 0.03;  ///< loaders jitter more than inference does
constexpr double kLongWindowMs = 500;      ///< waiting for the device at a window's end costs little against this
constexpr std::size_t kLeastSteps = 3;
constexpr std::size_t kBatchMeansFrom = 20;
constexpr std::size_t kStepBatches = 10;
constexpr double kIdentityLimit = 0.05;

stats::Estimate estimate(const std::vector<double>& samples, std::vector<double>& scratch) {
  if (const auto interval = stats::median_interval(samples, scratch)) return *interval;
  if (samples.empty()) return {};
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  return {stats::median(samples), *low, *high};
}

/// Mean with its 95 % interval; batch means where there are enough steps, else Student's over single steps.
std::optional<stats::Estimate> mean_of(const std::vector<double>& samples) {
  if (samples.size() < kLeastSteps) return std::nullopt;
  return stats::batch_mean(samples, samples.size() >= kBatchMeansFrom ? kStepBatches : samples.size());
}

class Session {
 public:
  Session(workload::StepRunner& runner, const schema::TrainingTrialSpec& spec, const TrainingControl& control)
      : runner_(runner), spec_(spec), plan_(spec.plan), control_(control), guard_(plan_.max_time_s) {}

  tl::expected<schema::TrainingMeasurement, TrainingFailure> run() {
    tell(TrialPhase::create_session);
    if (auto done = runner_.prepare(spec_); !done) return failure(std::move(done).error());
    tell(TrialPhase::warmup);
    if (auto done = warm_up(); !done) return failure(std::move(done).error());
    tell(TrialPhase::measure);
    if (auto done = measure(); !done) return failure(std::move(done).error());
    return finish();
  }

 private:
  tl::unexpected<TrainingFailure> failure(StepError error) const {
    return tl::unexpected(TrainingFailure{std::move(error), phase_});
  }

  void tell(TrialPhase phase) {
    phase_ = phase;
    if (control_.progress) control_.progress(phase_, steps_);
  }

  [[nodiscard]] double elapsed_s(base::Nanoseconds since) const {
    return base::to_seconds(runner_.clock().now() - since);
  }

  workload::StepResult<StepWindow> window(std::int64_t steps) {
    if (control_.cancelled && control_.cancelled())
      return tl::unexpected(StepError{base::Error{base::ErrorCode::cancelled, "stopped by a signal"}, {}, {}, {}, {}});
    auto out = runner_.run(steps);
    if (!out) return out;
    if (out->steps.size() != static_cast<std::size_t>(steps) || out->wall_ms <= 0)
      return tl::unexpected(StepError{
          base::Error{base::ErrorCode::corrupt,
                      fmt::format("asked for {} steps, got {} in {} ms", steps, out->steps.size(), out->wall_ms)},
          {},
          {},
          {},
          {}});
    steps_ += steps;
    if (control_.progress) control_.progress(phase_, steps_);
    return out;
  }

  workload::StepResult<void> warm_up() {
    const auto begin = runner_.clock().now();
    // What the workers had ready before the first step would inflate the rate: two batches each, one more in flight.
    const std::int64_t floor = std::max<std::int64_t>(plan_.warmup_steps, std::int64_t{3} * spec_.settings.workers);
    const std::int64_t most = std::max(plan_.max_warmup_steps, floor);
    std::vector<double> walls;
    while (true) {
      auto result = window(std::max<std::int64_t>(1, plan_.window_steps));
      if (!result) return tl::unexpected(std::move(result).error());
      for (const auto& step : result->steps) walls.push_back(step.wall_ms);
      expected_ms_ = result->wall_ms / static_cast<double>(result->steps.size());
      const auto done = static_cast<std::int64_t>(walls.size());
      const bool late = elapsed_s(begin) > plan_.max_warmup_s;
      // A slow step is warmed up after few: the floor would cost minutes.
      if (late && done >= std::min<std::int64_t>(floor, plan_.warmup_steps)) break;
      if (done < floor) continue;
      if (check_steadiness(walls, kSteadyTolerance) == Steadiness::steady) break;
      if (done >= most) {
        not_steady_ = true;
        break;
      }
    }
    warmup_steps_ = static_cast<std::int64_t>(walls.size());
    warmup_s_ = elapsed_s(begin);
    return {};
  }

  workload::StepResult<void> measure() {
    if (auto done = runner_.reset_peaks(); !done) return done;
    if (control_.watch != nullptr) control_.watch->begin_timing();
    const auto begin = runner_.clock().now();
    const auto long_window = static_cast<std::int64_t>(std::ceil(kLongWindowMs / std::max(expected_ms_, 1e-3)));
    const auto most = std::max<std::int64_t>(plan_.steps, plan_.window_steps);
    const auto steps = std::clamp<std::int64_t>(long_window, std::max<std::int64_t>(1, plan_.window_steps), most);
    workload::StepResult<void> status;
    do {
      if (control_.watch != nullptr) control_.watch->begin_part();
      auto result = window(steps);
      if (!result) {
        status = tl::unexpected(std::move(result).error());
        break;
      }
      const double wall_s = result->wall_ms * 1e-3;
      guard_.add(wall_s, control_.watch != nullptr ? control_.watch->end_part() : gpu::RoundReading{});
      windows_.push_back(std::move(*result));
    } while (!enough(elapsed_s(begin)));
    if (control_.watch != nullptr) {
      gpu::TimedTotals totals;
      for (const auto& entry : windows_) {
        totals.items += static_cast<double>(entry.steps.size()) * static_cast<double>(spec_.settings.batch);
        totals.kept_s += entry.wall_ms * 1e-3;
      }
      totals.discarded_s = guard_.discarded_s();
      totals.kept_s -= totals.discarded_s;
      totals.discarded_parts = static_cast<std::int64_t>(guard_.discarded());
      control_.watch->end_timing(totals);
    }
    return status;
  }

  [[nodiscard]] std::vector<StepWindow> kept() const {
    std::vector<StepWindow> out;
    for (std::size_t i = 0; i < windows_.size(); ++i)
      if (guard_.kept(i)) out.push_back(windows_[i]);
    return out;
  }

  [[nodiscard]] bool enough(double elapsed) const {
    const auto counted = summarize_steps(kept(), spec_.settings.batch);
    if (elapsed >= plan_.max_time_s &&
        (counted.steps >= static_cast<std::int64_t>(kLeastSteps) || counted.steps >= plan_.steps))
      return true;
    return plan_.is_met_by(counted) || plan_.is_hopeless(counted, elapsed);
  }

  tl::expected<schema::TrainingMeasurement, TrainingFailure> finish() {
    auto resources = runner_.resources();
    if (!resources) return failure(std::move(resources).error());
    auto out = summarize_steps(kept(), spec_.settings.batch);
    out.warmup_steps = warmup_steps_;
    out.warmup_s = warmup_s_;
    for (std::size_t i = 0; i < windows_.size(); ++i)
      if (!guard_.kept(i)) out.discarded_steps += static_cast<std::int64_t>(windows_[i].steps.size());
    out.resources = std::move(*resources);
    for (auto& [code, note] : std::exchange(out.resources.notes, {}))
      out.flags.push_back({schema::FlagLevel::notice, code, std::move(note)});
    if (not_steady_)
      out.flags.push_back({schema::FlagLevel::notice, "not_steady", messages::step_times_moved(warmup_steps_)});
    if (auto flag = guard_.flag()) out.flags.push_back(std::move(*flag));
    if (std::abs(out.identity_error) > kIdentityLimit)
      out.flags.push_back({schema::FlagLevel::notice, "identity", messages::phases_miss(out.identity_error)});
    if (out.resources.last_loss && !std::isfinite(*out.resources.last_loss))
      out.flags.push_back({schema::FlagLevel::notice, std::string(schema::kLossNotFinite),
                           messages::loss_not_finite(out.resources.lost_at_step)});
    const auto& rate = out.samples_per_s;
    if (rate.value > 0 && (rate.high - rate.low) / 2 > plan_.target_interval_ratio * rate.value)
      out.flags.push_back({schema::FlagLevel::info, "wide_interval",
                           messages::rate_interval_wide((rate.high - rate.low) / 2 / rate.value)});
    return out;
  }

  workload::StepRunner& runner_;
  const schema::TrainingTrialSpec& spec_;
  const schema::TrainingPlan& plan_;
  const TrainingControl& control_;
  ThrottleGuard guard_;
  TrialPhase phase_ = TrialPhase::launch;
  std::int64_t steps_ = 0;
  double expected_ms_ = 0;
  std::int64_t warmup_steps_ = 0;
  double warmup_s_ = 0;
  bool not_steady_ = false;
  std::vector<StepWindow> windows_;
};

}  // namespace

schema::TrainingMeasurement summarize_steps(const std::vector<StepWindow>& windows, std::int64_t batch) {
  schema::TrainingMeasurement out;
  out.batch = batch;
  std::vector<schema::StepPhases> steps;
  double wall_ms = 0;
  double sum_ms = 0;
  for (const auto& window : windows) {
    wall_ms += window.wall_ms;
    for (const auto& step : window.steps) {
      steps.push_back(step);
      sum_ms += step.sum_ms();
      out.wall_ms.push_back(step.wall_ms);
    }
  }
  out.steps = static_cast<std::int64_t>(steps.size());
  if (steps.empty() || wall_ms <= 0) return out;
  std::vector<double> scratch;
  const auto column = [&](double schema::StepPhases::*member) {
    std::vector<double> values;
    for (const auto& step : steps) values.push_back(step.*member);
    return estimate(values, scratch);
  };
  out.phases = {column(&schema::StepPhases::io_wait_ms),   column(&schema::StepPhases::h2d_ms),
                column(&schema::StepPhases::forward_ms),   column(&schema::StepPhases::backward_ms),
                column(&schema::StepPhases::optimizer_ms), column(&schema::StepPhases::rest_ms),
                column(&schema::StepPhases::wall_ms)};
  const double rate = static_cast<double>(batch) * static_cast<double>(steps.size()) / wall_ms * 1000;
  out.samples_per_s = {rate, rate, rate};
  if (const auto mean = mean_of(out.wall_ms); mean && mean->low > 0) {
    out.samples_per_s.low = rate * mean->value / mean->high;
    out.samples_per_s.high = rate * mean->value / mean->low;
  }
  out.identity_error = (sum_ms - wall_ms) / wall_ms;
  return out;
}

tl::expected<schema::TrainingMeasurement, TrainingFailure> measure_training(workload::StepRunner& runner,
                                                                            const schema::TrainingTrialSpec& spec,
                                                                            const TrainingControl& control) {
  return Session(runner, spec, control).run();
}

}  // namespace ridgeline::measure
