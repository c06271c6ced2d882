// SPDX-License-Identifier: Apache-2.0
#include "schema/stream_status.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "schema/messages.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::schema {

void to_json(nlohmann::json& json, const LatencySummary& latency) {
  json = {{"count", latency.count}, {"mean", latency.mean}, {"p50", latency.p50}, {"p95", latency.p95},
          {"p99", latency.p99},     {"p999", latency.p999}, {"max", latency.max}};
}

void from_json(const nlohmann::json& json, LatencySummary& latency) {
  latency = {};
  latency.count = json.value("count", latency.count);
  latency.mean = json.value("mean", latency.mean);
  latency.p50 = json.value("p50", latency.p50);
  latency.max = json.value("max", latency.max);
  // Runs of releases before 0.3 have them of any number of frames.
  const auto known = [&](const char* key, double quantile) {
    const auto found = json.find(key);
    return found == json.end() || latency.count < stats::samples_needed(quantile) ? std::optional<double>()
                                                                                  : found->get<std::optional<double>>();
  };
  latency.p95 = known("p95", 0.95);
  latency.p99 = known("p99", 0.99);
  latency.p999 = known("p999", 0.999);
}

RL_DEFINE_JSON(LoadLateness, p999, max, limit, late_frames)
RL_DEFINE_JSON(StreamCheck, name, passed, message)
RL_DEFINE_JSON(StreamStatus, elapsed_s, offered, delivered, in_time, dropped, skipped, in_flight, queued, queue_size,
               unwritten, span_s, delivered_per_s, goodput_per_s, latency, over_slo, late, queue, service, order,
               batches, mean_batch, busy, busy_workers, worker_s, failures, last_failure, lost_sources, lost_videos,
               checks, lateness, audit, is_void, gpu_busy, gpu_idle, uploads_hidden, slow_inferences, uploading,
               share_of_peak)
RL_DEFINE_JSON(StreamSourceInfo, name, width, height, fps, frames, is_live, decoder)
RL_DEFINE_JSON(StreamReady, sources, runtime, input, decoder, workers, queue_size, warm_ms, ready_s, notes, batch_size)

Message lateness_message(const LoadLateness& lateness, bool no_priority, bool held) {
  constexpr double kNsOfMs = 1e6;
  return messages::stream_lateness({.p999 = lateness.p999 * kNsOfMs,
                                    .limit = lateness.limit * kNsOfMs,
                                    .is_late = lateness.is_late(),
                                    .no_priority = no_priority,
                                    .held = held});
}

std::pair<std::string, double> tail_of(const LatencySummary& latency) {
  if (latency.p99) return {"p99", *latency.p99};
  return latency.p95 ? std::pair<std::string, double>("p95", *latency.p95)
                     : std::pair<std::string, double>("p50", latency.p50);
}

std::string tail_text(const LatencySummary& latency, int decimals) {
  const auto [name, ms] = tail_of(latency);
  return fmt::format("{} {:.{}f} ms", name, ms, decimals);
}

std::map<std::string, double> idle_causes(const std::map<std::string, double>& worker_s, double idle) {
  constexpr std::pair<const char*, const char*> kCauses[] = {
      {"no_frame", "source"}, {"filling", "queue"},      {"preprocess", "host"}, {"copy", "copy"},
      {"crops", "decode"},    {"postprocess", "decode"}, {"output", "order"}};
  std::map<std::string, double> shares;
  double sum = 0;
  for (const auto& [part, cause] : kCauses)
    if (const auto found = worker_s.find(part); found != worker_s.end() && found->second > 0) {
      shares[cause] += found->second;
      sum += found->second;
    }
  if (idle <= 0 || sum <= 0) return {};
  for (auto& [cause, share] : shares) share *= idle / sum;
  return shares;
}

bool is_source_bound(const StreamStatus& status) {
  constexpr double kWorthSaying = 0.1;
  if (!status.gpu_busy) return false;
  const double idle = 1 - *status.gpu_busy;
  const auto found = status.gpu_idle.find("source");
  return idle >= kWorthSaying && found != status.gpu_idle.end() && found->second > idle / 2;
}

std::string gpu_busy_text(const StreamStatus& status) {
  constexpr double kShown = 0.005;
  if (!status.gpu_busy) return "";
  auto text = fmt::format("{:.0f} % busy", 100 * *status.gpu_busy);
  if (status.share_of_peak) text += fmt::format(", {:.0f} % of its peak", 100 * *status.share_of_peak);
  if (status.uploading && *status.uploading >= kShown)
    text += fmt::format(", uploading {:.0f} %", 100 * *status.uploading);
  std::vector<std::pair<double, std::string>> causes;
  for (const auto& [cause, share] : status.gpu_idle)
    if (share >= kShown) causes.emplace_back(share, cause);
  std::sort(causes.rbegin(), causes.rend());
  const char* before = "; idle: ";
  for (const auto& [share, cause] : causes) {
    text += fmt::format("{}{} {:.0f} %", before, cause, 100 * share);
    before = ", ";
  }
  return text;
}

std::int64_t StreamStatus::all_dropped() const {
  std::int64_t sum = 0;
  for (const auto& [reason, count] : dropped) sum += count;
  return sum;
}

}  // namespace ridgeline::schema
