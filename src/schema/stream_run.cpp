// SPDX-License-Identifier: Apache-2.0
#include "schema/stream_run.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(StreamRequest, arguments, spec, output, settings_run, most_drops)
RL_DEFINE_JSON(StreamMoment, at_s, offered_per_s, delivered_per_s, dropped_per_s, queued)
RL_DEFINE_JSON(StreamVerdict, passed, reasons)
RL_DEFINE_JSON(StreamRun, id, command_line, started_utc, finished_utc, duration_s, interrupted, request, environment,
               trials, ready, status, moments, lost, error, error_hint, notes, verdict)

std::string stream_subject(const StreamRun& run) {
  const auto& sources = run.request.spec.sources;
  const auto count = sources.size() * static_cast<std::size_t>(std::max<std::int64_t>(1, run.request.spec.copies));
  if (sources.empty()) return "no source";
  const std::string name(base::file_name(sources.front().location));
  return count == 1 ? name : fmt::format("{} sources: {}{}", count, name, sources.size() > 1 ? " ..." : "");
}

Run to_run(const StreamRun& run) {
  RunLine line;
  line.subject =
      fmt::format("{} through {}", stream_subject(run), base::file_name(run.request.spec.model.workload.location));
  line.provider = run.request.spec.model.provider;
  line.device = run.request.spec.model.device;
  line.objective = run.request.spec.load ? "goodput" : "throughput";
  line.value = run.status.goodput_per_s;
  line.answer = run.error.empty()
                    ? fmt::format("{:.1f} FPS, p99 {:.1f} ms", run.status.delivered_per_s, run.status.latency.p99)
                    : run.error;
  line.decision = run.verdict && !run.verdict->passed ? "none" : run.error.empty() ? "keep" : "none";
  return wrap_run(StreamRun::kLayout, run, std::move(line));
}

}  // namespace ridgeline::schema
