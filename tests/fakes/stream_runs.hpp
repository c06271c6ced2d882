// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/random.hpp"
#include "fakes/stream_progress.hpp"
#include "schema/stream_run.hpp"

namespace ridgeline::fakes {

/// A stored stream: so many seconds, delivered frames and p99 scattered by some percent around what is given.
inline schema::StreamRun stream_run(std::string id, double delivered_per_s, double p99_ms, int seconds = 30,
                                    std::uint64_t seed = 1) {
  schema::StreamRun run;
  run.id = std::move(id);
  run.command_line = "stream bench --source gate.mp4 --model det.onnx --rate 100 --slo 60ms";
  run.started_utc = "2026-11-26T10:00:00Z";
  run.duration_s = seconds + 1;
  auto& spec = run.request.spec;
  spec.sources = {{"gate.mp4", false, false}};
  spec.model.workload = {"onnx", "det.onnx"};
  spec.model.provider = "cuda";
  spec.model.device = "gpu:GPU-fake-0";
  spec.settings.slo_ms = 60;
  spec.settings.batch_size = 4;
  spec.load.emplace();
  spec.load->rate_per_s = 100;
  run.ready.sources = {{"gate.mp4", 1280, 720, 25, 250, false, ""}};
  run.ready.runtime = "onnxruntime 1.29.0, cuda";
  run.ready.decoder = "yolo";
  run.ready.input = "x: float 1x3x720x1280";
  run.ready.workers = 2;
  run.ready.queue_size = 20;
  run.status = busy_stream(seconds).status;
  run.status.span_s = seconds;
  run.status.dropped.clear();
  run.status.delivered_per_s = delivered_per_s;
  run.status.latency.p99 = p99_ms;
  base::Random random(seed);
  const auto scattered = [&](double value) { return value * (0.98 + 0.04 * random.uniform()); };
  for (int second = 1; second <= seconds; ++second)
    run.moments.push_back({static_cast<double>(second), 100, scattered(delivered_per_s), 0, 3, scattered(p99_ms * 0.4),
                           scattered(p99_ms * 0.8), scattered(p99_ms),
                           schema::StreamGpu{80, 12e9, 85e9, 60 + second * 0.1, 400}});
  return run;
}

}  // namespace ridgeline::fakes
