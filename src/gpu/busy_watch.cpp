// SPDX-License-Identifier: Apache-2.0
#include "gpu/busy_watch.hpp"

#include <algorithm>

namespace ridgeline::gpu {
namespace {

// Values are steady from 50 ms between looks on, and a look costs up to 0.6 ms.
constexpr auto kLookEvery = std::chrono::seconds(1);

}  // namespace

void BusyWatch::begin_timing() {
  inner_.begin_timing();
  answered_s_ = worked_s_ = 0;
  busy_.reset();
  first_ = base::Nanoseconds{0};
  begun_ = clock_.now();
  if (lag_ == base::Nanoseconds{0}) look();
}

void BusyWatch::begin_part() {
  inner_.begin_part();
  parts_since_look_ = true;
}

RoundReading BusyWatch::end_part() {
  auto reading = inner_.end_part();
  const auto now = clock_.now();
  if (first_ == base::Nanoseconds{0} ? now - begun_ >= lag_ : now - looked_ >= kLookEvery) look();
  return reading;
}

void BusyWatch::end_timing(const TimedTotals& totals) {
  const auto now = clock_.now();
  if (first_ != base::Nanoseconds{0} && parts_since_look_) look();
  const double elapsed_s = base::to_seconds(now - begun_);
  const double parts_s = totals.kept_s + totals.discarded_s;
  // What worked within the parts is all that worked between the looks, spread over less time.
  if (answered_s_ > 0 && parts_s > 0 && now - first_ >= kLeast)
    busy_ = std::clamp(worked_s_ / answered_s_ * std::max(1.0, elapsed_s / parts_s), 0.0, 1.0);
  inner_.end_timing(totals);
}

void BusyWatch::look() {
  const auto reading = gpm_.read();
  const auto now = clock_.now();
  const double seconds = base::to_seconds(now - looked_);
  looked_ = now;
  parts_since_look_ = false;
  if (first_ == base::Nanoseconds{0}) {  // where the first interval begins
    first_ = now;
    return;
  }
  if (!reading || !reading->graphics_percent) return;
  answered_s_ += seconds;
  worked_s_ += *reading->graphics_percent / 100 * seconds;
}

}  // namespace ridgeline::gpu
