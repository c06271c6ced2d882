// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trace/analysis/nesting.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Visits the ranges of a GraphNode::path from the outside in: `visit(kind, name)`.
void each_part(std::string_view path, const std::function<void(RangeKind, std::string_view)>& visit);

/// Of a GraphNode::path: the name of the session's node (kSessionNode); "": it has none.
[[nodiscard]] std::string_view session_node(std::string_view path);

/// Numbers chains of ranges, whether they are in the trace or the text of a path: equal chains have equal numbers.
class RangePaths {
 public:
  /// Of no range.
  static constexpr std::uint32_t kNone = 0;
  enum class Names {
    exact,
    classes,  ///< "iteration 5" is "iteration 2"
  };

  /// Both must outlive it.
  RangePaths(const Trace& trace, const Nesting& nesting, Names names);

  /// The chain that ends with this range; kNowhere: kNone.
  [[nodiscard]] std::uint32_t of_range(Place range);
  /// A GraphNode::path. Outer ranges that the trace does not have are left out: they began before it was recorded.
  [[nodiscard]] std::uint32_t of_text(NameId path);

 private:
  [[nodiscard]] NameId name_of(std::string_view text);
  [[nodiscard]] std::uint32_t below(std::uint32_t parent, RangeKind kind, NameId name);
  void know(RangeKind kind, NameId name);

  const Trace& trace_;
  const Nesting& nesting_;
  const Names kind_of_names_;
  StringTable names_;
  std::unordered_map<NameId, NameId> name_of_string_;  ///< by Trace::strings
  std::vector<unsigned> known_;                        ///< kinds of ranges in the trace, a bit each, by names_
  std::map<std::tuple<std::uint32_t, RangeKind, NameId>, std::uint32_t> below_;
  std::vector<std::uint32_t> of_range_;
  std::unordered_map<NameId, std::uint32_t> of_text_;
};

}  // namespace ridgeline::trace
