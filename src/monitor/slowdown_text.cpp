// SPDX-License-Identifier: Apache-2.0
#include "monitor/slowdown_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "monitor/draw.hpp"
#include "monitor/gpu_metrics.hpp"

namespace ridgeline::monitor {
namespace {

/// "power limit 1:12 (34 %)", or without a record "power limit".
std::string with_time(const GpuReading& gpu, const std::string& cause, double since_start_s, bool share_too) {
  std::string text = slowdown_label(cause);
  const auto found = gpu.slowdown_since_start_s.find(cause);
  if (found == gpu.slowdown_since_start_s.end() || found->second < 0.05) return text;
  text += " " + span_text(found->second);
  if (share_too && since_start_s > 1)
    text += fmt::format(" ({:.0f} %)", std::min(100 * found->second / since_start_s, 100.0));
  return text;
}

/// `others_only`: without those that hold it down now.
std::string times_text(const GpuReading& gpu, double since_start_s, bool share_too, bool others_only) {
  std::string text;
  for (const auto& [cause, seconds] : gpu.slowdown_since_start_s) {
    const auto& now = gpu.slowdown_reasons;
    if (seconds < 0.05 || (others_only && std::find(now.begin(), now.end(), cause) != now.end())) continue;
    text += (text.empty() ? "" : ", ") + with_time(gpu, cause, since_start_s, share_too);
  }
  return text;
}

/// Each cause twice, by itself and with its time.
SlowdownText long_text(const GpuReading& gpu, double since_start_s) {
  SlowdownText text{reasons_text(gpu), times_text(gpu, since_start_s, true, false)};
  if (!text.now.empty()) text.now.insert(0, "now by ");
  if (!text.times.empty()) text.times.insert(0, text.now.empty() ? "since start: " : " · since start: ");
  return text;
}

/// Each cause once.
SlowdownText short_text(const GpuReading& gpu, double since_start_s, bool share_too) {
  SlowdownText text{{}, times_text(gpu, since_start_s, share_too, true)};
  for (const auto& reason : gpu.slowdown_reasons)
    text.now += (text.now.empty() ? "now: " : ", ") + with_time(gpu, reason, since_start_s, share_too);
  if (!text.times.empty()) text.times.insert(0, text.now.empty() ? "since start: " : "; before: ");
  return text;
}

}  // namespace

std::string reasons_text(const GpuReading& gpu, bool brief) {
  std::string text;
  for (const auto& reason : gpu.slowdown_reasons)
    text += (text.empty() ? "" : ", ") + std::string(slowdown_label(reason, brief));
  return text;
}

SlowdownText slowdown_text(const GpuReading& gpu, double since_start_s, int room) {
  const auto fits = [room](const SlowdownText& text) { return columns_of(text.now) + columns_of(text.times) <= room; };
  if (auto text = long_text(gpu, since_start_s); fits(text)) return text;
  if (auto text = short_text(gpu, since_start_s, true); fits(text)) return text;
  return short_text(gpu, since_start_s, false);
}

}  // namespace ridgeline::monitor
