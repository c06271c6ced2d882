// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/stream_verdict.hpp"

#include <algorithm>
#include <utility>

#include "campaign/messages.hpp"

namespace ridgeline::campaign {
namespace {

constexpr double kMostOverSlo = 0.01;  // what the 99th percentile leaves
constexpr double kNsOfMs = 1e6;

}  // namespace

schema::StreamVerdict judge_stream(schema::StreamStatus& status, const schema::StreamRequest& request) {
  schema::StreamVerdict out;
  const auto& settings = request.spec.settings;
  const auto lateness = status.lateness.value_or(schema::LoadLateness{});
  const auto late_frames = static_cast<double>(lateness.late_frames);
  const auto& latency = status.latency;
  const double slo_ns = settings.slo_ms * kNsOfMs;
  bool would_hold = true;  // had no frame been late
  if (settings.slo_ms > 0 && latency.p99 && *latency.p99 > settings.slo_ms) {
    out.reasons.push_back(messages::stream_p99_above_slo({.p99 = *latency.p99 * kNsOfMs, .slo = slo_ns}));
    would_hold = would_hold && *latency.p99 - lateness.max <= settings.slo_ms;
  }
  // Too few frames for a p99 are counted themselves.
  const auto over = static_cast<double>(status.over_slo);
  const auto most_over = kMostOverSlo * static_cast<double>(latency.count);
  if (settings.slo_ms > 0 && !latency.p99 && over > most_over) {
    out.reasons.push_back(messages::stream_frames_above_slo(
        {.over = status.over_slo, .frames = latency.count, .slo = slo_ns, .limit = kMostOverSlo}));
    would_hold = would_hold && over - late_frames <= most_over;
  }
  if (status.offered == 0) out.reasons.push_back(messages::stream_no_frames());
  const auto offered = static_cast<double>(std::max<std::int64_t>(1, status.offered));
  const auto dropped = static_cast<double>(status.all_dropped());
  if (dropped / offered > request.most_drops) {
    out.reasons.push_back(messages::stream_dropped({.dropped = dropped / offered, .limit = request.most_drops}));
    would_hold = would_hold && (dropped - late_frames) / offered <= request.most_drops;
  }
  status.is_void = !out.reasons.empty() && lateness.is_late() && would_hold;
  if (status.is_void) out.reasons.push_back(status.audit);
  if (status.failures > 0) {
    out.reasons.push_back(messages::stream_failed({.failures = status.failures, .last = status.last_failure}));
    status.is_void = false;
  }
  for (const auto& check : status.checks) {
    if (check.passed) continue;
    out.reasons.push_back(messages::stream_check_failed({.check = check.name, .sides = check.message}));
    status.is_void = false;
  }
  out.passed = out.reasons.empty();
  if (out.passed && lateness.is_late())
    status.audit = schema::lateness_message(lateness, status.audit.arguments().value("no_priority", false), true);
  return out;
}

void choose_point(schema::StreamRun& run) {
  const auto& points = run.points;
  const schema::StreamPoint* held = nullptr;
  schema::StreamVerdict verdict;
  bool is_broken = false;
  for (const auto& point : points) {
    if (point.verdict.passed) {
      if (!is_broken) held = &point;
      continue;
    }
    // A load that was not what it should be says nothing of the pipeline.
    is_broken = is_broken || !point.status.is_void;
    verdict.reasons.push_back(
        messages::stream_rate_missed({.per_s = point.rate_per_s, .reasons = point.verdict.reasons}));
  }
  verdict.held_per_s = held != nullptr ? held->rate_per_s : 0;
  verdict.passed = held != nullptr && held->rate_per_s == run.request.rates.back();
  const auto& chosen = held != nullptr ? *held : points.front();
  run.status = chosen.status;
  run.moments = chosen.moments;
  run.request.spec.load->rate_per_s = chosen.rate_per_s;
  if (run.error.empty() && !run.interrupted) run.verdict = std::move(verdict);
}

}  // namespace ridgeline::campaign
