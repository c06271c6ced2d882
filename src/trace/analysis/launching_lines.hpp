// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/analysis/nesting.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// The innermost Python line of the program that is known around a call: its own, or the one that calls the module it
/// is in. Of the backward pass that of the forward call. Texts are those of the trace.
class LaunchingLines {
 public:
  LaunchingLines(const Trace& trace, const Nesting& nesting);

  /// "net.py(57): forward"; "" where none is known.
  [[nodiscard]] std::string_view of_call(Place call) const;
  /// Of a kernel that a call launched: of a CUDA graph, the line that was captured.
  [[nodiscard]] std::string_view of_kernel(std::size_t kernel, Place call) const;

 private:
  const Trace& trace_;
  const Nesting& nesting_;
  std::vector<std::string_view> of_range_;
  std::map<std::pair<std::int64_t, std::uint64_t>, std::string_view> of_graph_node_;  ///< by process and node
};

}  // namespace ridgeline::trace
