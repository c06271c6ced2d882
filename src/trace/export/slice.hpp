// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/analysis/nesting.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// The tables of a Trace; of slices that begin and end together the one of the former table encloses the other.
enum class Table : std::uint8_t { ranges, nodes, calls, kernels, copies, sets, syncs };
inline constexpr std::size_t kTables = 7;

/// A row of a table, to be drawn as one box of a timeline.
struct Slice {
  Place row = 0;
  Table table = Table::ranges;
  friend bool operator==(const Slice&, const Slice&) = default;
};

[[nodiscard]] const Spans& spans_of(const Trace& trace, Table table);

/// As the PyTorch profiler names them, where it has such events.
enum class SliceCategory : std::uint8_t {
  operation,
  annotation,
  python,
  overhead,
  node,
  runtime_call,
  driver_call,
  kernel,
  copy,
  set,
  sync,
};
inline constexpr std::size_t kSliceCategories = 11;
[[nodiscard]] SliceCategory category_of(const Trace& trace, Slice slice);
[[nodiscard]] std::string_view name_of(SliceCategory category);

/// Beginnings and ends in nanoseconds, and the order in which slices of one track are to be written.
class SliceTimes {
 public:
  /// `trace` must outlive the object.
  explicit SliceTimes(const Trace& trace);

  [[nodiscard]] std::int64_t start(Slice slice) const { return spans(slice).start_ns[slice.row]; }
  /// The last moment there is where the sum does not fit.
  [[nodiscard]] std::int64_t end(Slice slice) const;
  /// By their beginnings, the longer first, so that what encloses comes before what it encloses.
  [[nodiscard]] bool before(Slice a, Slice b) const;

 private:
  [[nodiscard]] const Spans& spans(Slice slice) const { return *tables_[static_cast<std::size_t>(slice.table)]; }
  const Spans* tables_[kTables];
};

}  // namespace ridgeline::trace
