// SPDX-License-Identifier: Apache-2.0
#include "measure/throttle_guard.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "measure/messages.hpp"

namespace ridgeline::measure {
namespace {

/// By the counters; by the samples where there are none: a virtual GPU's driver may tell reasons and no times.
double held_s_of(const gpu::RoundReading& reading, double wall_s) {
  return reading.throttled_s ? std::min(*reading.throttled_s, wall_s) : reading.held_share.value_or(0) * wall_s;
}

bool is_throttled(const gpu::RoundReading& reading, double wall_s) {
  if (reading.throttled_s) return *reading.throttled_s > ThrottleGuard::kMaxThrottledShare * wall_s;
  return reading.held_share.value_or(0) > ThrottleGuard::kMostSamples;
}

}  // namespace

void ThrottleGuard::add(double wall_s, const gpu::RoundReading& reading) {
  parts_.push_back({wall_s, reading, is_throttled(reading, wall_s)});
  if (reading.others) least_others_ = std::min(least_others_.value_or(*reading.others), *reading.others);
  double reference_mhz = 0;
  for (const auto& part : parts_)
    if (!part.throttled) reference_mhz = std::max(reference_mhz, part.reading.sm_clock_mhz.value_or(0));
  double lost_s = 0;
  bool any_kept = false;
  for (auto& part : parts_) {
    const bool slow = part.reading.sm_clock_mhz && *part.reading.sm_clock_mhz < kLeastClockShare * reference_mhz;
    part.shared = part.reading.others && *part.reading.others > *least_others_;
    part.kept = !part.throttled && !slow && !part.shared;
    any_kept = any_kept || part.kept;
    if (!part.kept) lost_s += part.wall_s;
  }
  if (lost_s > budget_s_ / 2 || (parts_.size() >= kPatience && !any_kept)) gave_up_ = true;
}

double ThrottleGuard::discarded_s() const noexcept {
  double lost_s = 0;
  for (const auto& part : parts_)
    if (!gave_up_ && !part.kept) lost_s += part.wall_s;
  return lost_s;
}

std::size_t ThrottleGuard::discarded() const noexcept {
  if (gave_up_) return 0;
  return static_cast<std::size_t>(
      std::count_if(parts_.begin(), parts_.end(), [](const Part& part) { return !part.kept; }));
}

std::optional<schema::QualityFlag> ThrottleGuard::flag() const {
  double wall_s = 0;
  double held_s = 0;
  double slow_s = 0;
  double shared_s = 0;
  bool for_clocks = false;
  for (const auto& part : parts_) {
    wall_s += part.wall_s;
    held_s += held_s_of(part.reading, part.wall_s);
    if (part.shared) shared_s += part.wall_s;
    if (part.kept || (part.shared && !part.throttled)) continue;
    for_clocks = true;
    if (!part.throttled) slow_s += part.wall_s;
  }
  if (wall_s <= 0) return std::nullopt;
  if (gave_up_ && !for_clocks)
    return schema::QualityFlag{schema::FlagLevel::notice, "gpu_shared",
                               messages::others_on_gpu_throughout(shared_s / wall_s)};
  if (gave_up_)
    return schema::QualityFlag{schema::FlagLevel::notice, "throttled",
                               messages::throttled_throughout({.held = held_s / wall_s, .slow = slow_s / wall_s})};
  using Why = messages::PartsTakenAgainWhy;
  if (const auto lost = discarded(); lost > 0)
    return schema::QualityFlag{schema::FlagLevel::info, for_clocks ? "throttled_rounds" : "shared_rounds",
                               messages::parts_taken_again({.lost = static_cast<std::int64_t>(lost),
                                                            .all = static_cast<std::int64_t>(parts_.size()),
                                                            .time_s = discarded_s(),
                                                            .why = !for_clocks    ? Why::shared
                                                                   : shared_s > 0 ? Why::both
                                                                                  : Why::throttled})};
  return std::nullopt;
}

std::optional<schema::QualityFlag> judge_neighbours(std::optional<int> before, std::optional<int> after) {
  const int most = std::max(before.value_or(0), after.value_or(0));
  if (most == 0) return std::nullopt;
  return schema::QualityFlag{schema::FlagLevel::notice, "gpu_shared", messages::processes_on_gpu(most)};
}

}  // namespace ridgeline::measure
