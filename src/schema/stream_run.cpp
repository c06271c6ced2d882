// SPDX-License-Identifier: Apache-2.0
#include "schema/stream_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "schema/messages.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(StreamRequest, arguments, spec, output, settings_run, most_drops, rates)
RL_DEFINE_JSON(StreamVerdict, passed, reasons, held_per_s)
RL_DEFINE_JSON(StreamPoint, rate_per_s, status, moments, verdict)
RL_DEFINE_JSON(StreamRun, RL_RUN_ENVELOPE, request, environment, trials, ready, status, moments, lost, error, verdict,
               points)

bool StreamRun::is_void() const {
  if (points.empty()) return status.is_void;
  return std::all_of(points.begin(), points.end(),
                     [](const auto& point) { return point.verdict.passed || point.status.is_void; }) &&
         std::any_of(points.begin(), points.end(), [](const auto& point) { return !point.verdict.passed; });
}

std::size_t source_count(const StreamSpec& spec) {
  return spec.sources.size() * static_cast<std::size_t>(std::max<std::int64_t>(1, spec.copies));
}

bool is_paced(const StreamRun& run) {
  const auto& spec = run.request.spec;
  if (spec.load) return spec.load->process != "offline";
  return std::any_of(spec.sources.begin(), spec.sources.end(),
                     [](const auto& source) { return source.realtime || source.live; }) ||
         std::any_of(run.ready.sources.begin(), run.ready.sources.end(),
                     [](const auto& source) { return source.is_live; });
}

std::string stream_subject(const StreamRun& run) {
  const auto& sources = run.request.spec.sources;
  const auto count = source_count(run.request.spec);
  if (sources.empty()) return "no source";
  const std::string name(base::file_name(sources.front().location));
  return count == 1 ? name : fmt::format("{} sources: {}{}", count, name, sources.size() > 1 ? " ..." : "");
}

namespace {

Message answer_of(const StreamRun& run) {
  if (!run.error.empty()) return run.error;
  const auto held = run.verdict ? run.verdict->held_per_s : std::nullopt;
  if (held && *held <= 0) return messages::answer_no_rate_held();
  const auto [name, ms] = tail_of(run.status.latency);
  return messages::answer_stream(
      {.held = held, .rate = run.status.delivered_per_s, .percentile = name, .latency = ms * 1e6});
}

}  // namespace

Run to_run(const StreamRun& run) {
  RunLine line;
  line.subject =
      fmt::format("{} through {}", stream_subject(run), base::file_name(run.request.spec.model.workload.location));
  line.provider = run.request.spec.model.provider;
  line.device = run.request.spec.model.device;
  line.objective = run.request.spec.load ? "goodput" : "throughput";
  line.value = run.status.goodput_per_s;
  line.answer = answer_of(run);
  line.decision = run.verdict && !run.verdict->passed ? "none" : run.error.empty() ? "keep" : "none";
  return wrap_run(StreamRun::kLayout, run, std::move(line));
}

}  // namespace ridgeline::schema
