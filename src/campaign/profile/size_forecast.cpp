// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/size_forecast.hpp"

#include <algorithm>

namespace ridgeline::campaign {
namespace {

constexpr double kNsPerS = 1e9;
constexpr double kLeastWatchedS = 3;  // before a rate is one

}  // namespace

std::optional<SizeWarning> SizeForecast::add(const trace::RecordedProcess& process) {
  if (has_warned_ || process.bytes == 0 || process.state != trace::RecordingState::recording) return std::nullopt;
  const Sample now{process.bytes, process.seen_ns, process.recorded_steps};
  const auto& first = first_.try_emplace(process.pid, now).first->second;
  const double watched_s = static_cast<double>(now.time_ns - first.time_ns) / kNsPerS;
  const auto grown = static_cast<double>(now.bytes - first.bytes);
  if (watched_s < kLeastWatchedS || grown <= 0) return std::nullopt;
  SizeWarning out;
  out.bytes = static_cast<double>(now.bytes);
  out.bytes_per_s = grown / watched_s;
  auto most = static_cast<double>(options_.max_bytes);
  if (options_.max_events > 0 && process.events > 0) {
    const auto readable = out.bytes / static_cast<double>(process.events) * static_cast<double>(options_.max_events);
    out.of_events = readable < most;
    most = std::min(most, readable);
  }
  if (out.bytes >= most) return std::nullopt;
  out.seconds = (most - out.bytes) / out.bytes_per_s;
  if (options_.steps) {
    const auto steps = now.steps - first.steps;
    if (steps <= 0) return std::nullopt;
    out.in_all = out.bytes + grown / static_cast<double>(steps) * static_cast<double>(*options_.steps - now.steps);
  } else if (options_.duration_s) {
    const double passed_s = static_cast<double>(now.time_ns - process.begun_ns) / kNsPerS;
    out.in_all = out.bytes + out.bytes_per_s * (options_.delay_s.value_or(0) + *options_.duration_s - passed_s);
  }
  // Without an end, a program that has filled half of the size is taken to run as long again.
  if (out.in_all ? *out.in_all <= most : 2 * out.bytes <= most) return std::nullopt;
  has_warned_ = true;
  return out;
}

}  // namespace ridgeline::campaign
