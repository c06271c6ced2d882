// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/stream_verdict.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ridgeline::campaign {
namespace {

constexpr double kMostOverSlo = 0.01;  // what the 99th percentile leaves

}  // namespace

schema::StreamVerdict judge_stream(const schema::StreamStatus& status, const schema::StreamRequest& request) {
  schema::StreamVerdict out;
  const auto& settings = request.spec.settings;
  const auto fail = [&](std::string reason) {
    out.passed = false;
    out.reasons.push_back(std::move(reason));
  };
  if (status.is_void) fail(status.audit);
  const auto& latency = status.latency;
  if (settings.slo_ms > 0 && latency.p99 && *latency.p99 > settings.slo_ms)
    fail(fmt::format("p99 is {:.1f} ms, above the SLO of {:g} ms", *latency.p99, settings.slo_ms));
  // Too few frames for a p99 are counted themselves.
  const auto over = static_cast<double>(status.over_slo);
  if (settings.slo_ms > 0 && !latency.p99 && over > kMostOverSlo * static_cast<double>(latency.count))
    fail(fmt::format("{} of {} frames took longer than the SLO of {:g} ms, more than {:g} %", status.over_slo,
                     latency.count, settings.slo_ms, 100 * kMostOverSlo));
  const auto dropped = static_cast<double>(status.all_dropped());
  const double share = status.offered > 0 ? dropped / static_cast<double>(status.offered) : 0;
  if (share > request.most_drops)
    fail(fmt::format("{:.2f} % of the frames were dropped, above {:g} %", 100 * share, 100 * request.most_drops));
  if (status.failures > 0)
    fail(fmt::format("{} inferences failed, the last with: {}", status.failures, status.last_failure));
  for (const auto& check : status.checks)
    if (!check.passed) fail(fmt::format("the pipeline's own check \"{}\" failed: {}", check.name, check.message));
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
        fmt::format("{:g} FPS a source: {}", point.rate_per_s, fmt::join(point.verdict.reasons, "; ")));
  }
  verdict.held_per_s = held != nullptr ? held->rate_per_s : 0;
  verdict.passed = held != nullptr && held->rate_per_s == run.request.rates.back();
  const auto& chosen = held != nullptr ? *held : points.front();
  run.status = chosen.status;
  run.moments = chosen.moments;
  run.request.spec.load->rate_per_s = chosen.rate_per_s;
  if (run.error.empty() && !run.interrupted) run.verdict = std::move(verdict);
}

bool is_void(const schema::StreamRun& run) {
  if (run.points.empty()) return run.status.is_void;
  return std::all_of(run.points.begin(), run.points.end(),
                     [](const auto& point) { return point.verdict.passed || point.status.is_void; }) &&
         std::any_of(run.points.begin(), run.points.end(), [](const auto& point) { return !point.verdict.passed; });
}

}  // namespace ridgeline::campaign
