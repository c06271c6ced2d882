// SPDX-License-Identifier: Apache-2.0
#include "monitor/stream_metrics.hpp"

#include <fmt/format.h>

#include "base/version.hpp"
#include "monitor/metric_family.hpp"

namespace ridgeline::monitor {
namespace {

constexpr double kSecond = 1e-3;  ///< of milliseconds

std::optional<double> scaled(const std::optional<double>& value, double scale) {
  return value ? std::optional(*value * scale) : std::nullopt;
}

class StreamText {
 public:
  void gauge(const char* name, const char* help, const std::optional<double>& value) {
    one(name, "gauge", help, value);
  }
  void counter(const char* name, const char* help, std::int64_t value) {
    one(name, "counter", help, static_cast<double>(value));
  }
  [[nodiscard]] MetricFamily family(const char* name, const char* type, const char* help) {
    return {out_, fmt::format("ridgeline_stream_{}", name), type, help};
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  void one(const char* name, const char* type, const char* help, const std::optional<double>& value) {
    family(name, type, help).add({}, value);
  }
  std::string out_;
};

void write_frames(StreamText& text, const StreamView& view) {
  const auto& [status, recent] = view.progress;
  text.counter("frames_offered_total", "Frames that came in.", status.offered);
  text.counter("frames_delivered_total", "Frames with a result.", status.delivered);
  text.counter("frames_in_time_total", "Frames with a result by their deadline.", status.in_time);
  {
    auto dropped = text.family("frames_dropped_total", "counter", "Frames without a result, by the reason.");
    for (const auto& [reason, count] : status.dropped) dropped.add({{"reason", reason}}, static_cast<double>(count));
  }
  text.gauge("frames_offered_per_second", "Frames that came in, in the last second.", recent.offered_per_s);
  text.gauge("frames_delivered_per_second", "Frames with a result, in the last second.", recent.delivered_per_s);
  text.gauge("frames_in_flight", "Frames that came in and have not left.", static_cast<double>(status.in_flight));
  text.gauge("queue_frames", "Frames that wait for a worker.", static_cast<double>(status.queued));
  text.gauge("queue_capacity_frames", "Frames that may wait.", static_cast<double>(status.queue_size));
  text.gauge("results_unwritten", "Results that wait for the output.", static_cast<double>(status.unwritten));
  text.counter("inferences_failed_total", "Inferences that failed.", status.failures);
}

void write_latency(StreamText& text, const StreamView& view) {
  const auto& [status, recent] = view.progress;
  if (view.slo_ms > 0) text.gauge("slo_seconds", "Limit of a frame's latency.", view.slo_ms * kSecond);
  auto latency = text.family("latency_seconds", "summary",
                             "From when a frame was due, or came in, to its result; quantiles of the last second, "
                             "or of as many frames as a quantile needs to have ten beyond it.");
  latency.add({{"quantile", "0.5"}}, scaled(recent.p50, kSecond));
  latency.add({{"quantile", "0.95"}}, scaled(recent.p95, kSecond));
  latency.add({{"quantile", "0.99"}}, scaled(recent.p99, kSecond));
  const auto count = static_cast<double>(status.latency.count);
  latency.add({}, status.latency.mean * count * kSecond, "_sum");
  latency.add({}, count, "_count");
}

void write_workers(StreamText& text, const StreamView& view) {
  const auto& status = view.progress.status;
  {
    auto batches = text.family("batch_frames", "histogram", "Frames of an inference.");
    double count = 0;
    double sum = 0;
    for (std::size_t size = 1; size < status.batches.size(); ++size) {
      count += static_cast<double>(status.batches[size]);
      sum += static_cast<double>(size) * static_cast<double>(status.batches[size]);
      batches.add({{"le", std::to_string(size)}}, count, "_bucket");
    }
    batches.add({{"le", "+Inf"}}, count, "_bucket");
    batches.add({}, sum, "_sum");
    batches.add({}, count, "_count");
  }
  text.gauge("workers", "Inferences that can be in flight.", static_cast<double>(view.ready.workers));
  text.gauge("busy_ratio", "Share of the workers' time that is not idle.", status.busy);
  auto time = text.family(
      "worker_seconds_total", "counter",
      "Workers' time: inference, copy, wait (for the GPU), preprocess, postprocess, and idle: no_frame (source), "
      "filling (a fuller batch), output (order and output).");
  for (const auto& [part, seconds] : status.worker_s) time.add({{"part", part}}, seconds);
  if (status.share_of_peak)
    text.gauge("share_of_peak_ratio", "Rate of results over the peak that a bench of the same pipeline measured.",
               status.share_of_peak);
  if (!status.gpu_busy) return;
  text.gauge("gpu_busy_ratio", "Share of the time since the start with an inference under way on the GPU.",
             status.gpu_busy);
  auto idle = text.family("gpu_idle_ratio", "gauge", "The rest of that time, by its cause.");
  for (const auto& [cause, share] : status.gpu_idle) idle.add({{"cause", cause}}, share);
  if (status.uploading)
    text.gauge("gpu_uploading_ratio", "Share of the time since the start with frames on their way to the GPU.",
               status.uploading);
  if (status.uploads_hidden)
    text.gauge("gpu_uploads_hidden_ratio", "Share of the time of uploads in which an inference was under way.",
               status.uploads_hidden);
  if (status.slow_inferences)
    text.gauge("gpu_slow_inferences_ratio", "Share of inferences of more than twice the median of their batch size.",
               status.slow_inferences);
}

void write_stream_gpu(StreamText& text, const schema::StreamGpu& gpu) {
  text.gauge("gpu_utilization_ratio", "Share of the time with at least one kernel running.",
             scaled(gpu.utilization_percent, 0.01));
  text.gauge("gpu_sm_ratio", "Share of the GPU's multiprocessors with work.", scaled(gpu.sm_percent, 0.01));
  text.gauge("gpu_tensor_ratio", "Share of the time that tensor cores were busy.", scaled(gpu.tensor_percent, 0.01));
  text.gauge("gpu_memory_used_bytes", "Memory of the GPU in use, by all processes.", gpu.memory_used_bytes);
  text.gauge("gpu_memory_size_bytes", "Memory of the GPU.", gpu.memory_total_bytes);
  text.gauge("gpu_temperature_celsius", "Temperature of the GPU.", gpu.temperature_c);
  text.gauge("gpu_power_watts", "Power of the GPU, averaged over about one second by the driver.", gpu.power_w);
}

}  // namespace

std::string stream_metrics_text(const StreamView& view) {
  StreamText text;
  text.family("info", "gauge", "What runs; always 1.")
      .add({{"version", std::string(base::version())},
            {"source", view.subject},
            {"model", view.model},
            {"runtime", view.ready.runtime},
            {"decoder", view.ready.decoder}},
           1);
  text.gauge("uptime_seconds", "Since the pipeline was ready.", view.progress.status.elapsed_s);
  write_frames(text, view);
  write_latency(text, view);
  write_workers(text, view);
  if (const auto& gpu = view.progress.recent.gpu) {
    write_stream_gpu(text, *gpu);
    if (gpu->power_w && *gpu->power_w > 0)
      text.gauge("gpu_frames_per_joule", "Delivered frames per joule of the whole GPU, in the last second.",
                 view.progress.recent.delivered_per_s / *gpu->power_w);
  }
  return text.take();
}

}  // namespace ridgeline::monitor
