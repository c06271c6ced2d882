// SPDX-License-Identifier: Apache-2.0
// What a pipeline adds to each frame: fixed arrivals, one source, and a runner that does nothing or spins for a given
// time.
//   stream_null_backend [RATE] [SERVICE_US] [SECONDS] [HAND_OVER_US]       default: 1000 0 20 5
// HAND_OVER_US: PipelineOptions::hand_over_ns; 0: another thread runs every frame.
// Prints percentiles of the latency, from when a frame was due to when its result left, and of the load's own lateness.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "host/prompt_thread.hpp"
#include "stream/load_feed.hpp"

namespace ridgeline::stream {
namespace {

class SpinningRunner final : public BatchRunner {
 public:
  explicit SpinningRunner(std::int64_t service_ns) : service_ns_(service_ns) {}
  base::Result<BatchTimes> run(std::uint32_t, std::span<const BatchFrame>, std::uint32_t,
                               std::span<std::string>) override {
    if (service_ns_ > 0) {
      const auto& clock = base::system_clock();
      const auto until = clock.now().count() + service_ns_;
      while (clock.now().count() < until) {
      }
    }
    return BatchTimes{};
  }

 private:
  std::int64_t service_ns_;
};

class NullSink final : public ResultSink {
 public:
  base::Result<void> write(const FrameOutput&) override { return {}; }
  base::Result<void> finish() override { return {}; }
};

int run(double rate, double service_us, double seconds, double hand_over_us) {
  SpinningRunner runner(static_cast<std::int64_t>(service_us * 1e3));
  NullSink sink;
  PipelineOptions options;
  options.dispatcher.drop_policy = DropPolicy::oldest;
  options.hand_over_ns = static_cast<std::int64_t>(hand_over_us * 1e3);
  auto image = std::make_shared<Image>();
  image->width = image->height = 8;
  image->bytes.resize(image_bytes(8, 8, image->format));
  auto pipeline = Pipeline::start(options, runner, sink, *image);
  if (!pipeline) {
    std::fprintf(stderr, "error: %s\n", pipeline.error().message.c_str());
    return 2;
  }
  const auto schedule = make_schedule({{.rate_per_s = rate}}, static_cast<std::int64_t>(seconds * 1e9), 1);
  if (!schedule) {
    std::fprintf(stderr, "error: %s\n", schedule.error().message.c_str());
    return 2;
  }
  const host::PromptThread prompt;
  const auto audit = feed_load(*schedule, {{image}}, **pipeline, base::system_clock());
  if (const auto ended = (*pipeline)->finish(); !ended) {
    std::fprintf(stderr, "error: %s\n", ended.error().message.c_str());
    return 2;
  }
  const auto status = (*pipeline)->status();
  const auto& latency = status.meter.stages().latency;
  const auto us = [](const stats::LatencyHistogram& times, double q) {
    return static_cast<double>(times.quantile(q)) / 1e3;
  };
  std::printf("%g a second, service %g us, %llu frames: p50 %.2f us, p99 %.2f, p99.9 %.2f; p99.9 / p50 %.2f\n", rate,
              service_us, static_cast<unsigned long long>(status.meter.counters().delivered), us(latency, 0.5),
              us(latency, 0.99), us(latency, 0.999), us(latency, 0.999) / us(latency, 0.5));
  std::printf("the load was late by %.2f us at the median, %.2f at p99.9\n", us(audit.lateness(), 0.5),
              us(audit.lateness(), 0.999));
  return 0;
}

}  // namespace
}  // namespace ridgeline::stream

int main(int count, char** values) {
  const auto value = [&](int at, double otherwise) { return count > at ? std::atof(values[at]) : otherwise; };
  return ridgeline::stream::run(value(1, 1000), value(2, 0), value(3, 20), value(4, 5));
}
