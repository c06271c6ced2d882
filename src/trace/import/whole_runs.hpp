// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Where events of an ONNX Runtime profile stand in its file, one each of the rows of Trace's tables.
struct ProfileOrder {
  static constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);
  std::vector<std::size_t> session_of_node;   ///< counts the sessions of a process that the file tells of
  std::vector<std::size_t> session_of_range;  ///< likewise
  std::vector<std::size_t> nodes_before;      ///< of ranges
  std::vector<std::size_t> node_of_kernel;    ///< the last that stands before it; kNoNode: none
  std::vector<std::size_t> node_of_copy;
  std::vector<std::size_t> node_of_call;
};

/// Leaves out what would be counted twice or is no part of a whole run, and says so in notes: second copies of events;
/// sessions other than the one with most time; nodes that outlast their run; nodes outside of runs, where there are
/// runs; runs that a cut ended; and work of a GPU with its node. Times are whole microseconds. Errors: unsupported,
/// where runs or nodes of one thread overlap, so that they belong to several sessions that nothing separates.
[[nodiscard]] base::Result<void> keep_whole_runs(const std::string& path, Trace& trace, const ProfileOrder& order,
                                                 bool cut_off);

}  // namespace ridgeline::trace
