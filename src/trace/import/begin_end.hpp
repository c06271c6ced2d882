// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tracefile/string_table.hpp"

namespace ridgeline::trace {

/// Pairs events that begin (ph B) with those that end (ph E), of a thread each, by name and as a stack: what is still
/// open when an event around it ends has lost its end, and stays without. In the order of time, or of the file where
/// that comes out better or has each with its end behind it.
class BeginEnd {
 public:
  struct Pair {
    std::size_t number = 0;  ///< what begin() returned
    std::int64_t duration_ns = 0;
  };
  using Thread = std::pair<std::int64_t, std::int64_t>;
  /// What may begin within an event: anything; anything, but at most one of its name, as no operation calls itself in
  /// turn; anything of another name; anything but what is of its kind. What does not keep to that has lost its end.
  enum class Within { all, one_of_name, others, none_of_kind };

  /// How many began before.
  std::size_t begin(const Thread& thread, std::int64_t time_ns, NameId name, Within within = Within::all);
  /// `name` 0: the file does not tell which.
  void end(const Thread& thread, std::int64_t time_ns, NameId name);
  /// By the number of what began; sets unpaired().
  [[nodiscard]] std::vector<Pair> pairs();
  /// Events without the other one.
  [[nodiscard]] std::size_t unpaired() const noexcept { return unpaired_; }

 private:
  static constexpr auto kEnd = static_cast<std::size_t>(-1);
  struct Edge {
    std::int64_t time_ns = 0;
    NameId name = 0;
    std::size_t number = kEnd;  ///< kEnd: it ends
    Within within = Within::all;
  };
  class Stack;
  static std::size_t pair_up(const std::vector<Edge>& edges, std::vector<Pair>& out);

  std::map<Thread, std::vector<Edge>> threads_;
  std::size_t begun_ = 0;
  std::size_t unpaired_ = 0;
};

}  // namespace ridgeline::trace
