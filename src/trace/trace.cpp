// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.hpp"

namespace ridgeline::trace {

LaneId Trace::gpu_lane(const GpuLane& lane) { return lane_id(gpu_lanes, gpu_ids_, lane); }

void Trace::give_process(std::int64_t process) {
  change_gpu_lanes([process](GpuLane& lane) {
    if (lane.process == 0) lane.process = process;
  });
}

void Trace::renumber_gpus(const std::function<void(std::int32_t&)>& renumber) {
  change_gpu_lanes([&renumber](GpuLane& lane) { renumber(lane.device); });
}

void Trace::change_gpu_lanes(const std::function<void(GpuLane&)>& change) {
  const auto before = std::exchange(gpu_lanes, {});
  gpu_ids_.clear();
  std::vector<LaneId> after;  // by the places before
  for (auto lane : before) {
    change(lane);
    after.push_back(gpu_lane(lane));
  }
  for (Spans* work : {static_cast<Spans*>(&kernels), static_cast<Spans*>(&copies), static_cast<Spans*>(&sets),
                      static_cast<Spans*>(&syncs), static_cast<Spans*>(&counted)})
    for (auto& lane : work->lane) lane = after[lane];
}

LaneId Trace::thread_lane(const ThreadLane& lane) { return lane_id(thread_lanes, thread_ids_, lane); }

}  // namespace ridgeline::trace
