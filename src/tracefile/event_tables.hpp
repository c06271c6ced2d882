// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "tracefile/events.hpp"

namespace ridgeline::trace {

/// The events of a trace, a table for each kind. Within a table they keep the order in which they came.
struct EventTables {
  Kernels kernels;
  MemoryWork copies;
  MemoryWork sets;
  Syncs syncs;
  ApiCalls calls;
  Ranges ranges;
  Nodes nodes;
  Allocations allocations;
  CountedLaunches counted;
};

/// The place of a lane among those seen so far, `ids` by lane; a new one is added.
template <typename Lane>
[[nodiscard]] LaneId lane_id(std::vector<Lane>& lanes, std::map<Lane, LaneId>& ids, const Lane& lane) {
  // Events come in runs of one lane.
  if (!lanes.empty() && lanes.back() == lane) return static_cast<LaneId>(lanes.size() - 1);
  const auto [found, is_new] = ids.try_emplace(lane, static_cast<LaneId>(lanes.size()));
  if (is_new) lanes.push_back(lane);
  return found->second;
}

}  // namespace ridgeline::trace
