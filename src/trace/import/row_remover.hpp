// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/trace.hpp"
#include "tracefile/table_columns.hpp"

namespace ridgeline::trace {

/// Rows of a table that are to go.
using Marks = std::vector<bool>;

/// Removes the rows that are marked: a coder of columns (code_columns).
class RowRemover {
 public:
  explicit RowRemover(const Marks& marks) : marks_(marks) {}
  template <typename Value>
  void deltas(std::vector<Value>& column) const {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < column.size(); ++i)
      if (!marks_[i]) column[kept++] = column[i];
    column.resize(kept);
  }
  void durations(std::vector<std::int64_t>& column, const std::vector<std::int64_t>&) const { deltas(column); }
  template <bool kOfGpu>
  void lanes(std::vector<LaneId>& column) const {
    deltas(column);
  }
  template <typename Value>
  void names(std::vector<Value>& column) const {
    deltas(column);
  }
  template <typename Value>
  void kinds(std::vector<Value>& column) const {
    deltas(column);
  }
  template <typename Value>
  void numbers(std::vector<Value>& column) const {
    deltas(column);
  }
  template <typename Value>
  void extents(std::vector<Value>& column) const {
    deltas(column);
  }

 private:
  const Marks& marks_;
};

template <typename Table>
void remove_rows(Table& table, const Marks& marks) {
  RowRemover remover(marks);
  code_columns(remover, table);
}

}  // namespace ridgeline::trace
