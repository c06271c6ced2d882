// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/launch_index.hpp"
#include "trace/analysis/nesting.hpp"
#include "trace/analysis/steps.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// A row of the module tree.
struct ModuleRow {
  Place parent = kNowhere;  ///< into Attribution::rows; kNowhere of the root, which is the first
  std::string name;
  schema::ModuleKind kind = schema::ModuleKind::root;
  std::string_view line = {};  ///< of the program, that calls the module, in a string of the trace; "": unknown
};

/// Where in the program events belong: modules, annotations and the outermost operations below them. Calls of one
/// module from one place share a row. What the backward pass did belongs to the operation whose gradient it computes,
/// found by autograd's sequence number.
struct Attribution {
  std::vector<ModuleRow> rows;  ///< parents before children
  std::vector<Place> row_of_range;
  std::vector<bool> opens_row;     ///< of a range: it is a call of its row, rather than something within
  std::vector<bool> is_backward;   ///< of a range: it belongs to the backward pass
  std::vector<Place> row_of_node;  ///< of Trace::nodes
  /// Of a node: the range of its thread that encloses it and opens a row; kNowhere: none.
  std::vector<Place> range_of_node;
  std::vector<Place> node_of_call;  ///< nodes_of_calls
  /// Of nodes of CUDA graphs, by process and Kernels::graph_node: where they were captured.
  std::map<std::pair<std::int64_t, std::uint64_t>, Place> row_of_graph_node;
  Place unattributed = kNowhere;  ///< kNowhere: there is none

  /// The row for a kernel of a CUDA graph; kNowhere: it is of none, or of one that was not seen captured.
  [[nodiscard]] Place row_of_graph_kernel(const Trace& trace, std::size_t kernel) const;
  /// The row for work that a call launched, itself into Trace::calls.
  [[nodiscard]] Place row_of_launch(Place call, const Nesting& nesting) const;
};

[[nodiscard]] Attribution attribute(const Trace& trace, const Nesting& nesting, const LaunchIndex& launches,
                                    const Steps& steps);

/// "encoder/layer 3/aten::mm"; "" of the root.
[[nodiscard]] std::string path_of(const Attribution& attribution, Place row);

}  // namespace ridgeline::trace
