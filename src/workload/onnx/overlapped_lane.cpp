// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/overlapped_lane.hpp"

#include "base/clock.hpp"

namespace ridgeline::workload {

base::Result<OrtStreamWorker::Probe> OverlappedLane::probe(const stream::Image& image) {
  const auto& parts = session_.parts();
  const stream::BatchFrame frame{.image = &image, .is_sample = true};
  RL_TRY(group_frames({&frame, 1}, 1, parts.preprocessor, parts.input, grouped_));
  const auto& only = grouped_.groups.front();
  grouped_.plan(only, {&frame, 1}, planned_);
  stream::BatchTimes times;
  RL_TRY_ASSIGN(probed_, session_.run(only, planned_, host_, times));
  RL_TRY(decoder_.read(probed_));
  RL_TRY_ASSIGN(const auto outputs, decoder_.row(only.rows, 0));
  return OrtStreamWorker::Probe{outputs, only.geometry};
}

base::Result<stream::BatchTimes> OverlappedLane::run(std::span<const stream::BatchFrame> frames,
                                                     std::uint32_t executed_size, std::span<std::string> results,
                                                     const std::function<void()>& left) {
  stream::BatchTimes times;
  const auto& parts = session_.parts();
  RL_TRY(group_frames(frames, executed_size, parts.preprocessor, parts.input, grouped_));
  decoder_.start(frames.size());
  for (const auto& group : grouped_.groups) {
    grouped_.plan(group, frames, planned_);
    RL_TRY_ASSIGN(const auto values, session_.run(group, planned_, host_, times));
    if (left && &group == &grouped_.groups.back()) left();
    const auto ended = base::system_clock().now();
    RL_TRY(decoder_.read(values));
    RL_TRY(decoder_.decode(grouped_, group, frames, results));
    times.postprocess_ns += (base::system_clock().now() - ended).count();
  }
  return times;
}

}  // namespace ridgeline::workload
