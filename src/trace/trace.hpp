// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schema/message.hpp"
#include "tracefile/device.hpp"
#include "tracefile/event_tables.hpp"
#include "tracefile/gpu_sample.hpp"
#include "tracefile/string_table.hpp"

namespace ridgeline::trace {

/// What was recorded of programs and their GPUs, as columns. Events keep the order of the file.
class Trace : public EventTables {
 public:
  StringTable strings;
  std::vector<Device> devices;
  std::vector<GpuLane> gpu_lanes;
  std::vector<ThreadLane> thread_lanes;
  std::vector<GraphNode> graph_nodes;
  std::vector<GpuSample> gpu_samples;  ///< in order of time
  /// Of operations by lane and start, where shapes were recorded and tell more than the name; in no trace file.
  std::map<std::pair<LaneId, std::int64_t>, ProductShape> product_shapes;
  std::vector<schema::Message> notes;  ///< what was cut off or left out
  bool lacks_work = false;             ///< of a GPU, cut off or not read: where there is none, there may have been some
  bool of_recorder = false;  ///< of `ridgeline profile -- CMD`, while it is made: advice on other profilers is no help
  bool lacks_durations = false;  ///< of many kernels: they last 0 ns. It lacks work then, too.

  /// Neither work of a GPU nor nodes: what there is ran on the host.
  [[nodiscard]] bool is_of_host() const noexcept {
    return kernels.size() + copies.size() + sets.size() + nodes.size() == 0;
  }
  [[nodiscard]] LaneId gpu_lane(const GpuLane& lane);
  [[nodiscard]] LaneId thread_lane(const ThreadLane& lane);
  /// To all work of GPUs that has none (0).
  void give_process(std::int64_t process);
  /// `renumber` changes the number of a GPU; distinct ones must stay so.
  void renumber_gpus(const std::function<void(std::int32_t&)>& renumber);

 private:
  void change_gpu_lanes(const std::function<void(GpuLane&)>& change);

  std::map<GpuLane, LaneId> gpu_ids_;
  std::map<ThreadLane, LaneId> thread_ids_;
};

}  // namespace ridgeline::trace
