// SPDX-License-Identifier: Apache-2.0
#include "trace/export/slice_lanes.hpp"

#include <algorithm>
#include <utility>

namespace ridgeline::trace {
namespace {

constexpr std::size_t kMostDepth = 500;
constexpr std::size_t kMostAddedDepth = 12;  // together Perfetto's limit

void sort_slices(const SliceTimes& times, std::vector<Slice>& slices) {
  const auto before = [&](Slice a, Slice b) { return times.before(a, b); };
  if (!std::is_sorted(slices.begin(), slices.end(), before)) std::sort(slices.begin(), slices.end(), before);
}

/// Ends of the slices of a lane that are open, the innermost last.
class OpenEnds {
 public:
  void advance(std::int64_t at_ns) {
    while (!ends_.empty() && ends_.back() <= at_ns) ends_.pop_back();
  }
  [[nodiscard]] bool encloses(std::int64_t end_ns) const { return ends_.empty() || ends_.back() >= end_ns; }
  [[nodiscard]] std::size_t depth() const noexcept { return ends_.size(); }
  void enter(std::int64_t end_ns) { ends_.push_back(end_ns); }

 private:
  std::vector<std::int64_t> ends_;
};

}  // namespace

std::vector<SliceLane> split_into_lanes(const SliceTimes& times, std::vector<Slice> slices) {
  sort_slices(times, slices);
  std::vector<SliceLane> lanes;
  std::vector<OpenEnds> open;
  for (const auto slice : slices) {
    const auto start = times.start(slice);
    const auto end = times.end(slice);
    std::size_t at = 0;
    for (; at < lanes.size(); ++at) {
      open[at].advance(start);
      if (open[at].encloses(end) && open[at].depth() < kMostDepth) break;
    }
    if (at == lanes.size()) {
      lanes.emplace_back();
      open.emplace_back();
      if (at == 0) lanes[0].reserve(slices.size());
    }
    open[at].enter(end);
    lanes[at].push_back(slice);
  }
  return lanes;
}

std::vector<Slice> add_what_nests(const SliceTimes& times, std::vector<Slice> slices, SliceLane& lane) {
  sort_slices(times, slices);
  std::vector<Slice> others;
  SliceLane merged;
  merged.reserve(lane.size() + slices.size());
  OpenEnds open;
  OpenEnds open_added;
  std::size_t at = 0;
  const auto take = [&](Slice slice) {
    open.advance(times.start(slice));
    open.enter(times.end(slice));
    merged.push_back(slice);
  };
  for (const auto slice : slices) {
    while (at < lane.size() && times.before(lane[at], slice)) take(lane[at++]);
    const auto end = times.end(slice);
    open.advance(times.start(slice));
    open_added.advance(times.start(slice));
    bool fits = open.encloses(end) && open_added.depth() < kMostAddedDepth;
    // What begins within must end within.
    for (auto next = at; fits && next < lane.size() && times.start(lane[next]) < end; ++next)
      fits = times.end(lane[next]) <= end;
    if (fits) {
      open_added.enter(end);
      take(slice);
    } else {
      others.push_back(slice);
    }
  }
  while (at < lane.size()) take(lane[at++]);
  lane = std::move(merged);
  return others;
}

std::vector<SliceLane> split_into_rows(const SliceTimes& times, std::vector<Slice> slices, std::size_t most) {
  sort_slices(times, slices);
  std::vector<SliceLane> rows;
  std::vector<std::int64_t> ends;
  for (const auto slice : slices) {
    std::size_t at = 0;
    while (at < rows.size() && ends[at] > times.start(slice)) ++at;
    if (at == most) continue;
    if (at == rows.size()) {
      rows.emplace_back();
      ends.push_back(0);
    }
    rows[at].push_back(slice);
    ends[at] = times.end(slice);
  }
  return rows;
}

}  // namespace ridgeline::trace
