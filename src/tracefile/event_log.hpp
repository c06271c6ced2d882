// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "tracefile/block_file.hpp"
#include "tracefile/device.hpp"
#include "tracefile/event_tables.hpp"
#include "tracefile/string_table.hpp"

namespace ridgeline::trace {

/// Events of a program that runs, appended to a trace file and forgotten, so that memory stays bounded by the names and
/// lanes that there are.
///   log.events.kernels.add(start, duration, log.name("gemm"), log.gpu_lane({process, device, context, stream}), id);
///   RL_TRY(log.flush());  // every second
///   RL_TRY(log.finish());
class EventLog {
 public:
  /// Makes the file, or empties the one that is there. Errors: not_found (the folder), io, and so below.
  [[nodiscard]] static base::Result<EventLog> create(const std::string& path);

  [[nodiscard]] NameId name(std::string_view text) { return strings_.id(text); }
  [[nodiscard]] LaneId gpu_lane(const GpuLane& lane) { return lane_id(gpu_lanes_, gpu_ids_, lane); }
  [[nodiscard]] LaneId thread_lane(const ThreadLane& lane) { return lane_id(thread_lanes_, thread_ids_, lane); }
  void add(Device device) { devices_.push_back(std::move(device)); }
  void add(const GraphNode& node) { graph_nodes_.push_back(node); }

  /// Writes what `events` holds, and empties it.
  [[nodiscard]] base::Result<void> flush();
  /// The same, and marks the trace as complete; to be called once, as the last.
  [[nodiscard]] base::Result<void> finish();

  /// In the file.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return file_.bytes(); }
  [[nodiscard]] std::uint64_t written() const noexcept { return file_.events(); }

  EventTables events;

 private:
  explicit EventLog(BlockFile file) : file_(std::move(file)) {}
  template <typename Put>
  [[nodiscard]] base::Result<void> append_new(BlockKind kind, std::size_t& done, std::size_t count, Put put);

  BlockFile file_;
  StringTable strings_;
  std::vector<GpuLane> gpu_lanes_;
  std::vector<ThreadLane> thread_lanes_;
  std::vector<Device> devices_;
  std::vector<GraphNode> graph_nodes_;  ///< that are not in the file
  std::map<GpuLane, LaneId> gpu_ids_;
  std::map<ThreadLane, LaneId> thread_ids_;
  std::size_t strings_done_ = 1;  // "" is in every table
  std::size_t gpu_lanes_done_ = 0;
  std::size_t thread_lanes_done_ = 0;
  std::size_t devices_done_ = 0;
  std::size_t bandwidths_done_ = 0;
};

}  // namespace ridgeline::trace
