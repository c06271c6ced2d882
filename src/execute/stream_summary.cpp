// SPDX-License-Identifier: Apache-2.0
#include "execute/stream_summary.hpp"

#include <algorithm>
#include <optional>

#include "schema/error_message.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::execute {
namespace {

schema::LatencySummary summary_of(const stats::LatencyHistogram& histogram) {
  const auto count = static_cast<std::int64_t>(histogram.count());
  const auto ms = [&](double quantile) { return static_cast<double>(histogram.quantile(quantile)) * 1e-6; };
  const auto supported = [&](double quantile) {
    return count >= stats::samples_needed(quantile) ? std::optional(ms(quantile)) : std::nullopt;
  };
  return {count,
          histogram.mean() * 1e-6,
          ms(0.5),
          supported(0.95),
          supported(0.99),
          supported(0.999),
          static_cast<double>(histogram.max()) * 1e-6};
}

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

schema::StreamStatus summarize(const stream::PipelineStatus& status, double elapsed_s, std::int64_t slo_ns,
                               const std::optional<gpu::DeviceTimes>& device) {
  schema::StreamStatus out;
  const auto& meter = status.meter;
  const auto& counters = meter.counters();
  out.elapsed_s = elapsed_s;
  out.offered = static_cast<std::int64_t>(counters.offered);
  out.delivered = static_cast<std::int64_t>(counters.delivered);
  out.in_time = static_cast<std::int64_t>(counters.in_time);
  out.skipped = static_cast<std::int64_t>(counters.dropped_for(stream::DropReason::skipped));
  for (std::size_t reason = 0; reason < stream::kDropReasons; ++reason)
    if (counters.dropped[reason] > 0 && static_cast<stream::DropReason>(reason) != stream::DropReason::skipped)
      out.dropped[std::string(to_string(static_cast<stream::DropReason>(reason)))] =
          static_cast<std::int64_t>(counters.dropped[reason]);
  out.in_flight = static_cast<std::int64_t>(status.in_flight);
  out.queued = static_cast<std::int64_t>(status.queued);
  out.queue_size = static_cast<std::int64_t>(status.capacity);
  out.unwritten = static_cast<std::int64_t>(status.unwritten);
  out.span_s = seconds(meter.span_ns());
  out.delivered_per_s = meter.delivered_per_s();
  out.goodput_per_s = meter.goodput_per_s();
  out.latency = summary_of(meter.stages().latency);
  if (slo_ns > 0) out.over_slo = static_cast<std::int64_t>(meter.stages().latency.count_above(slo_ns));
  out.late = summary_of(meter.stages().late);
  out.queue = summary_of(meter.stages().queue);
  out.service = summary_of(meter.stages().service);
  out.order = summary_of(meter.stages().order);
  for (const auto count : meter.batches()) out.batches.push_back(static_cast<std::int64_t>(count));
  out.mean_batch = meter.mean_batch();
  const auto& workers = status.workers;
  out.busy_workers = meter.mean_busy_workers();
  out.busy = out.busy_workers / workers.workers;
  out.worker_s = {{"preprocess", seconds(workers.busy.preprocess_ns)},
                  {"inference", seconds(workers.busy.inference_ns)},
                  {"postprocess", seconds(workers.busy.postprocess_ns)},
                  {"no_frame", seconds(workers.no_frame_ns)},
                  {"filling", seconds(workers.waiting_ns)},
                  {"output", seconds(workers.sink_ns)}};
  if (workers.busy.copy_ns > 0) out.worker_s["copy"] = seconds(workers.busy.copy_ns);
  if (workers.busy.wait_ns > 0) out.worker_s["wait"] = seconds(workers.busy.wait_ns);
  if (workers.busy.crops_ns > 0) out.worker_s["crops"] = seconds(workers.busy.crops_ns);
  if (device && elapsed_s > 0) {
    const double busy = std::min(1.0, seconds(device->busy_ns) / elapsed_s);
    out.gpu_busy = busy;
    out.gpu_idle = schema::idle_causes(out.worker_s, 1 - busy);
    out.uploading = std::min(1.0, seconds(device->upload_ns) / elapsed_s);
    if (device->upload_ns > 0)
      out.uploads_hidden = static_cast<double>(device->hidden_ns) / static_cast<double>(device->upload_ns);
    if (device->inferences > 0)
      out.slow_inferences = static_cast<double>(device->slow) / static_cast<double>(device->inferences);
  }
  out.failures = static_cast<std::int64_t>(status.failures);
  if (status.last_failure) out.last_failure = schema::message_of(*status.last_failure);
  return out;
}

}  // namespace ridgeline::execute
