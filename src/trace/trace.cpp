// SPDX-License-Identifier: Apache-2.0
#include "trace/trace.hpp"

namespace ridgeline::trace {
namespace {

template <typename Lane>
LaneId place_of(const Lane& lane, std::vector<Lane>& lanes, std::map<Lane, LaneId>& ids) {
  // Events come in runs of one lane.
  if (!lanes.empty() && lanes.back() == lane) return static_cast<LaneId>(lanes.size() - 1);
  const auto [found, is_new] = ids.try_emplace(lane, static_cast<LaneId>(lanes.size()));
  if (is_new) lanes.push_back(lane);
  return found->second;
}

}  // namespace

LaneId Trace::gpu_lane(const GpuLane& lane) { return place_of(lane, gpu_lanes, gpu_ids_); }

void Trace::give_process(std::int64_t process) {
  const auto before = std::exchange(gpu_lanes, {});
  gpu_ids_.clear();
  std::vector<LaneId> after;  // by the places before
  for (auto lane : before) {
    if (lane.process == 0) lane.process = process;
    after.push_back(gpu_lane(lane));
  }
  for (Spans* work : {static_cast<Spans*>(&kernels), static_cast<Spans*>(&copies), static_cast<Spans*>(&sets),
                      static_cast<Spans*>(&syncs)})
    for (auto& lane : work->lane) lane = after[lane];
}

LaneId Trace::thread_lane(const ThreadLane& lane) { return place_of(lane, thread_lanes, thread_ids_); }

}  // namespace ridgeline::trace
