// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "trace/import/row_remover.hpp"
#include "trace/trace.hpp"
#include "tracefile/table_columns.hpp"

namespace ridgeline::trace {

/// What is removed of a trace for one reason.
class LeftOut {
 public:
  explicit LeftOut(Trace& trace) : trace_(trace) {}

  /// Of a table; the calls that launched the work have none from now on, but where it stands there `twice`.
  template <typename Table>
  void remove(Table& table, const Marks& marks, bool twice = false) {
    std::unordered_set<std::int64_t> launched;
    std::unordered_set<std::int64_t> others;  // that launched what stays, too: a graph
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (kIsOfGpu<Table> && !twice && table.correlation[i] != 0)
        (marks[i] ? launched : others).insert(table.correlation[i]);
      if (marks[i]) see(table.name[i]);
    }
    remove_rows(table, marks);
    for (const auto correlation : others) launched.erase(correlation);
    if (launched.empty()) return;
    for (auto& correlation : trace_.calls.correlation)
      if (launched.count(correlation) > 0) correlation = 0;
  }
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Of the first of them.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void see(NameId name);

  Trace& trace_;
  std::int64_t count_ = 0;
  std::string name_;
};

/// `visit` each table of spans.
template <typename Visit>
void each_spans(Trace& trace, Visit visit) {
  each_table(trace, [&](BlockKind, auto& table) {
    if constexpr (std::is_base_of_v<Spans, std::remove_reference_t<decltype(table)>>) visit(table);
  });
}

/// `visit` each table of work of a GPU.
template <typename Visit>
void each_work(Trace& trace, Visit visit) {
  visit(trace.kernels);
  visit(trace.copies);
  visit(trace.sets);
}

/// Of each lane whether its work overlaps, or is not in order in the file.
[[nodiscard]] std::vector<bool> disordered_lanes(const Spans& work, std::size_t lanes);

/// The greatest number where it is more.
[[nodiscard]] std::int64_t difference(std::int64_t later, std::int64_t earlier);

/// Times from `first` to `last`.
struct Period {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  void add(std::int64_t time);
  [[nodiscard]] bool any() const { return first <= last; }
  [[nodiscard]] std::int64_t length() const { return difference(last, first); }
  /// Ten times its length, and at least that many nanoseconds: what lies further away belongs to something else.
  [[nodiscard]] std::int64_t reach(std::int64_t least) const;
};

}  // namespace ridgeline::trace
