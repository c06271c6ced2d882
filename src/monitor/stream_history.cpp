// SPDX-License-Identifier: Apache-2.0
#include "monitor/stream_history.hpp"

#include <algorithm>
#include <limits>

namespace ridgeline::monitor {
namespace {

constexpr double kRateWindowS = 1;
constexpr float kNoReading = std::numeric_limits<float>::quiet_NaN();

}  // namespace

void StreamHistory::add(const schema::StreamProgress& progress) {
  const auto& status = progress.status;
  Reading reading{status.elapsed_s, status.delivered, kNoReading,
                  progress.recent.p99 ? static_cast<float>(*progress.recent.p99) : kNoReading};
  // Against the youngest reading that is a whole window back, or the oldest there is.
  auto before = std::find_if(readings_.rbegin(), readings_.rend(),
                             [&](const Reading& one) { return status.elapsed_s - one.at_s >= kRateWindowS; });
  const Reading* from = before != readings_.rend() ? &*before : readings_.empty() ? nullptr : &readings_.front();
  if (from != nullptr && status.elapsed_s > from->at_s)
    reading.frames_per_s =
        static_cast<float>(static_cast<double>(status.delivered - from->delivered) / (status.elapsed_s - from->at_s));
  readings_.push_back(reading);
  if (readings_.size() > kLength) readings_.pop_front();
}

const StreamHistory::Reading* StreamHistory::at(std::size_t age) const {
  return age < readings_.size() ? &readings_[readings_.size() - 1 - age] : nullptr;
}

float StreamHistory::frames_per_s(std::size_t age) const {
  const auto* reading = at(age);
  return reading != nullptr ? reading->frames_per_s : kNoReading;
}

float StreamHistory::p99(std::size_t age) const {
  const auto* reading = at(age);
  return reading != nullptr ? reading->p99 : kNoReading;
}

double StreamHistory::seconds_back(std::size_t age) const {
  return readings_.empty() ? 0 : readings_.back().at_s - at(std::min(age, readings_.size() - 1))->at_s;
}

}  // namespace ridgeline::monitor
