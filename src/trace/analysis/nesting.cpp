// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/nesting.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace ridgeline::trace {
namespace {

/// Begin and duration are whole microseconds in many files.
constexpr std::int64_t kRoundingNs = 2000;

/// Ranges of one thread that are open, the innermost last.
class Open {
 public:
  explicit Open(const Ranges& ranges) : ranges_(ranges) {}

  /// Leaves what ended at or before that moment of a thread.
  void advance(LaneId lane, std::int64_t at_ns) {
    if (lane != lane_) stack_.clear();
    lane_ = lane;
    while (!stack_.empty() && end_of(stack_.back()) <= at_ns) stack_.pop_back();
  }
  /// Returns what is around it. An annotation that outlasts others began within them and is not part of them, as NVTX's
  /// ranges of start and end may: they are not of the thread's stack.
  Place enter(Place range) {
    auto at = stack_.end();
    const auto is_annotation = [&](Place one) { return ranges_.kind[one] == RangeKind::annotation; };
    while (is_annotation(range) && at != stack_.begin() && is_annotation(*std::prev(at)) &&
           end_of(*std::prev(at)) + kRoundingNs < end_of(range))
      --at;
    const auto around = at == stack_.begin() ? kNowhere : *std::prev(at);
    stack_.insert(at, range);
    return around;
  }
  [[nodiscard]] Place innermost() const { return stack_.empty() ? kNowhere : stack_.back(); }

 private:
  [[nodiscard]] std::int64_t end_of(Place range) const { return ranges_.start_ns[range] + ranges_.duration_ns[range]; }

  const Ranges& ranges_;
  LaneId lane_ = 0;
  std::vector<Place> stack_;
};

}  // namespace

std::vector<Place> by_thread(const Spans& spans) {
  std::vector<Place> order(spans.size());
  std::iota(order.begin(), order.end(), Place{0});
  std::stable_sort(order.begin(), order.end(), [&](Place a, Place b) {
    if (spans.lane[a] != spans.lane[b]) return spans.lane[a] < spans.lane[b];
    if (spans.start_ns[a] != spans.start_ns[b]) return spans.start_ns[a] < spans.start_ns[b];
    return spans.duration_ns[a] > spans.duration_ns[b];
  });
  return order;
}

Nesting nest(const Trace& trace) {
  const auto& ranges = trace.ranges;
  const auto& calls = trace.calls;
  Nesting out{std::vector<Place>(ranges.size(), kNowhere), std::vector<Place>(calls.size(), kNowhere),
              by_thread(ranges)};
  const auto call_order = by_thread(calls);
  Open open(ranges);
  auto call = call_order.begin();
  const auto take_call = [&] {
    open.advance(calls.lane[*call], calls.start_ns[*call]);
    out.range_of_call[*call] = open.innermost();
    ++call;
  };
  for (const auto range : out.range_order) {
    const auto lane = ranges.lane[range];
    const auto start = ranges.start_ns[range];
    while (call != call_order.end() &&
           (calls.lane[*call] < lane || (calls.lane[*call] == lane && calls.start_ns[*call] < start)))
      take_call();
    open.advance(lane, start);
    out.parent_of_range[range] = open.enter(range);
  }
  while (call != call_order.end()) take_call();
  return out;
}

std::vector<Place> ranges_at(const Trace& trace, const Nesting& nesting, const std::vector<Moment>& moments) {
  const auto& ranges = trace.ranges;
  std::vector<Place> order(moments.size());
  std::iota(order.begin(), order.end(), Place{0});
  std::stable_sort(order.begin(), order.end(), [&](Place a, Place b) {
    return std::pair(moments[a].lane, moments[a].time_ns) < std::pair(moments[b].lane, moments[b].time_ns);
  });
  std::vector<Place> out(moments.size(), kNowhere);
  Open open(ranges);
  auto range = nesting.range_order.begin();
  for (const auto i : order) {
    const auto& moment = moments[i];
    for (; range != nesting.range_order.end() &&
           std::pair(ranges.lane[*range], ranges.start_ns[*range]) <= std::pair(moment.lane, moment.time_ns);
         ++range) {
      open.advance(ranges.lane[*range], ranges.start_ns[*range]);
      (void)open.enter(*range);
    }
    open.advance(moment.lane, moment.time_ns);
    out[i] = open.innermost();
  }
  return out;
}

}  // namespace ridgeline::trace
