// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/hash.hpp"
#include "schema/training_trial.hpp"

namespace ridgeline::schema {

std::string describe(const TrainingSettings& settings) { return describe(settings, kGpuDevice); }

std::string describe(const TrainingSettings& settings, std::string_view device) {
  const char* pinning = settings.pin_memory ? ", pinned" : is_cpu_device(device) ? "" : ", not pinned";
  return fmt::format("batch {}, {} worker{}, {}{}", settings.batch, settings.workers, settings.workers == 1 ? "" : "s",
                     settings.amp == AmpMode::off ? "no AMP" : base::enum_name(settings.amp), pinning);
}

std::optional<double> samples_per_s_per_gb(const TrainingMeasurement& measurement) noexcept {
  const auto& gb = measurement.resources.peak_reserved_gb;
  if (!gb || *gb <= 0) return std::nullopt;
  return measurement.samples_per_s.value / *gb;
}

bool TrainingPlan::is_met_by(const TrainingMeasurement& measured) const noexcept {
  if (measured.steps < steps) return false;
  if (measured.steps >= max_steps) return true;
  const auto& rate = measured.samples_per_s;
  return rate.high > rate.low && (rate.high - rate.low) / 2 <= target_interval_ratio * rate.value;
}

bool TrainingPlan::is_hopeless(const TrainingMeasurement& measured, double timed_s) const noexcept {
  constexpr double kPatience = 1.0 / 3;
  const auto& rate = measured.samples_per_s;
  if (measured.steps < steps || timed_s < kPatience * max_time_s || rate.value <= 0) return false;
  const double times_too_wide = (rate.high - rate.low) / 2 / (target_interval_ratio * rate.value);
  return timed_s * times_too_wide * times_too_wide > max_time_s;
}

std::string TrainingTrialSpec::key() const {
  base::Json json = *this;
  json["job"].erase("data_path");
  json["job"].erase("python");
  json["plan"].erase("max_time_s");
  json["plan"].erase("max_warmup_s");
  return base::sha256_hex(base::dump_json(json));
}

}  // namespace ridgeline::schema
