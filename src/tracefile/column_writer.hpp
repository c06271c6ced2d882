// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tracefile/events.hpp"
#include "tracefile/varint.hpp"

namespace ridgeline::trace {

/// Appends the rows [from, to) of columns to `out`. Differences are of 64 bits that wrap around, so that there is one
/// for any two numbers.
class ColumnWriter {
 public:
  ColumnWriter(std::string& out, std::size_t from, std::size_t to) : out_(out), from_(from), to_(to) {}

  template <typename Number>
  void deltas(const std::vector<Number>& column) {
    std::uint64_t before = 0;
    for (std::size_t i = from_; i < to_; ++i) {
      const auto value = static_cast<std::uint64_t>(column[i]);
      put_varint(out_, zigzag(static_cast<std::int64_t>(value - before)));
      before = value;
    }
  }
  void durations(const std::vector<std::int64_t>& column, const std::vector<std::int64_t>&) { plain(column); }
  void names(const std::vector<NameId>& column) { plain(column); }
  template <bool kOfGpu>
  void lanes(const std::vector<LaneId>& column) {
    plain(column);
  }
  template <typename Kind>
  void kinds(const std::vector<Kind>& column) {
    plain(column);
  }
  template <typename Number>
  void numbers(const std::vector<Number>& column) {
    for (std::size_t i = from_; i < to_; ++i) put_varint(out_, zigzag(column[i]));
  }
  void extents(const std::vector<Dim3>& column) {
    for (std::size_t i = from_; i < to_; ++i)
      for (const auto extent : {column[i].x, column[i].y, column[i].z}) put_varint(out_, zigzag(extent));
  }

 private:
  template <typename Number>
  void plain(const std::vector<Number>& column) {
    for (std::size_t i = from_; i < to_; ++i) put_varint(out_, static_cast<std::uint64_t>(column[i]));
  }

  std::string& out_;
  std::size_t from_;
  std::size_t to_;
};

}  // namespace ridgeline::trace
