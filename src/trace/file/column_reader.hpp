// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "trace/trace.hpp"
#include "tracefile/varint.hpp"

namespace ridgeline::trace {

/// Appends `count` rows of what a ColumnWriter wrote to columns. A row that no trace can have (a name or a lane that is
/// not there, a negative duration, an end beyond 64 bits) makes the bytes fail.
class ColumnReader {
 public:
  /// `names`: the trace's own, by the numbers of the file.
  ColumnReader(VarintReader& bytes, std::size_t count, const Trace& trace, const std::vector<NameId>& names)
      : bytes_(bytes), count_(count), trace_(trace), names_(names) {}

  template <typename Number>
  void deltas(std::vector<Number>& column) {
    std::uint64_t value = 0;
    each([&] {
      value += static_cast<std::uint64_t>(unzigzag(bytes_.varint()));
      column.push_back(static_cast<Number>(value));
    });
  }
  void durations(std::vector<std::int64_t>& column, const std::vector<std::int64_t>& starts) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    each([&] {
      const auto duration = bytes_.varint();
      const auto start = starts[column.size()];
      if (duration > kMost || (start > 0 && duration > kMost - static_cast<std::uint64_t>(start))) bytes_.fail();
      column.push_back(static_cast<std::int64_t>(duration));
    });
  }
  void names(std::vector<NameId>& column) {
    each([&] { column.push_back(names_[below(names_.size())]); });
  }
  template <bool kOfGpu>
  void lanes(std::vector<LaneId>& column) {
    const auto lanes = kOfGpu ? trace_.gpu_lanes.size() : trace_.thread_lanes.size();
    if (lanes == 0 && count_ > 0) bytes_.fail();
    each([&] { column.push_back(static_cast<LaneId>(below(lanes))); });
  }
  void kinds(std::vector<RangeKind>& column) { kinds(column, RangeKind::overhead); }
  void kinds(std::vector<AllocationKind>& column) { kinds(column, AllocationKind::out_of_memory); }
  template <typename Number>
  void numbers(std::vector<Number>& column) {
    each([&] { column.push_back(number<Number>()); });
  }
  void extents(std::vector<Dim3>& column) {
    each([&] {
      const auto x = number<std::int32_t>();
      const auto y = number<std::int32_t>();
      column.push_back({x, y, number<std::int32_t>()});
    });
  }

 private:
  template <typename Kind>
  void kinds(std::vector<Kind>& column, Kind last) {
    each([&] { column.push_back(static_cast<Kind>(below(static_cast<std::size_t>(last) + 1))); });
  }
  template <typename Read>
  void each(Read read) {
    for (std::size_t i = 0; i < count_ && !bytes_.failed(); ++i) read();
  }
  /// 0 where it is not below.
  std::size_t below(std::size_t limit) {
    const auto value = bytes_.varint();
    return value < limit ? static_cast<std::size_t>(value) : static_cast<std::size_t>(bytes_.fail());
  }
  template <typename Number>
  Number number() {
    const auto value = unzigzag(bytes_.varint());
    if (value < std::numeric_limits<Number>::min() || value > std::numeric_limits<Number>::max()) bytes_.fail();
    return static_cast<Number>(value);
  }

  VarintReader& bytes_;
  std::size_t count_;
  const Trace& trace_;
  const std::vector<NameId>& names_;
};

}  // namespace ridgeline::trace
