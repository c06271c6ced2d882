// SPDX-License-Identifier: Apache-2.0
#include "trace/import/copied_records.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/import/left_out.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

/// Rows of lanes that need a look, but those without a duration.
std::vector<std::size_t> rows_to_look_at(const Spans& work, std::size_t lanes) {
  const auto looked_at = disordered_lanes(work, lanes);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < work.size(); ++i)
    if (looked_at[work.lane[i]] && work.duration_ns[i] > 0) order.push_back(i);
  return order;
}

/// A stream does nothing twice at the same moment: such rows are copies. Sorts `order`.
Marks copies_of_rows(const Spans& work, std::vector<std::size_t>& order) {
  Marks marks(work.size());
  const auto key = [&](std::size_t i) {
    return std::tuple(work.lane[i], work.start_ns[i], work.duration_ns[i], work.name[i], work.correlation[i]);
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  for (std::size_t i = 1; i < order.size(); ++i) marks[order[i]] = key(order[i]) == key(order[i - 1]);
  return marks;
}

/// What is known of the calls that have a correlation.
struct CallsOfCorrelation {
  std::int64_t process = 0;
  bool launches_once = true;  ///< one process, and no graph, whose kernels share it
};

std::unordered_map<std::int64_t, CallsOfCorrelation> calls_by_correlation(const Trace& trace) {
  std::unordered_map<std::int64_t, CallsOfCorrelation> out;
  const auto& calls = trace.calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto process = trace.thread_lanes[calls.lane[i]].process;
    auto& known = out.try_emplace(calls.correlation[i], CallsOfCorrelation{process, true}).first->second;
    if (known.process != process || trace.strings.text(calls.name[i]).find("GraphLaunch") != std::string_view::npos)
      known.launches_once = false;
  }
  return out;
}

/// A launch runs one kernel: a second of its name that a stream runs at the same time is a copy, whose times were
/// rounded in another way.
/// `order`: by lane and time.
void mark_near_copies(const Trace& trace, const std::vector<std::size_t>& order, Marks& marks) {
  constexpr std::size_t kNeighbours = 4;
  const auto& kernels = trace.kernels;
  const auto are_of_one_launch = [&](std::size_t a, std::size_t b) {
    return kernels.correlation[a] == kernels.correlation[b] && kernels.name[a] == kernels.name[b] &&
           kernels.lane[a] == kernels.lane[b] && kernels.start_ns[b] < kernels.start_ns[a] + kernels.duration_ns[a];
  };
  std::unordered_map<std::int64_t, CallsOfCorrelation> calls;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto row = order[i];
    if (marks[row] || kernels.correlation[row] == 0 || kernels.graph_node[row] != 0) continue;
    for (std::size_t back = 1; back <= std::min(i, kNeighbours) && !marks[row]; ++back) {
      if (marks[order[i - back]] || !are_of_one_launch(order[i - back], row)) continue;
      if (calls.empty()) calls = calls_by_correlation(trace);
      const auto known = calls.find(kernels.correlation[row]);
      marks[row] = known != calls.end() && known->second.launches_once;
    }
  }
}

/// Whether most of some rows of a table, taken from all over it, are there a second time: a quick look.
bool looks_doubled(const Spans& spans) {
  constexpr std::size_t kSamples = 16;
  if (spans.size() < 2) return false;
  const auto key = [&](std::size_t i) {
    return std::tuple(spans.start_ns[i], spans.duration_ns[i], spans.name[i], spans.lane[i], spans.correlation[i]);
  };
  const auto bit_of = [](std::int64_t start) {
    return std::uint64_t{1} << ((static_cast<std::uint64_t>(start) * 0x9E3779B97F4A7C15ULL) >> 58U);
  };
  std::array<std::size_t, kSamples> samples{};
  std::array<std::size_t, kSamples> found{};
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kSamples; ++i) {
    samples[i] = i * spans.size() / kSamples;
    bits |= bit_of(spans.start_ns[samples[i]]);
  }
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if ((bits & bit_of(spans.start_ns[row])) == 0) continue;
    for (std::size_t i = 0; i < kSamples; ++i)
      if (spans.start_ns[samples[i]] == spans.start_ns[row] && key(samples[i]) == key(row)) ++found[i];
  }
  return std::count_if(found.begin(), found.end(), [](auto count) { return count > 1; }) > std::ptrdiff_t{kSamples / 2};
}

/// An operation may call one of its name at the same moment: copies are those of a file that has nearly all twice.
template <typename Table>
void leave_out_copies_of_host(Table& table, LeftOut& left_out) {
  if (!looks_doubled(table)) return;
  const auto key = [&](std::size_t i) {
    return std::tuple(table.lane[i], table.start_ns[i], table.duration_ns[i], table.name[i], table.correlation[i]);
  };
  std::vector<std::size_t> order(table.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  Marks marks(table.size());
  for (std::size_t i = 1; i < order.size(); ++i) marks[order[i]] = key(order[i]) == key(order[i - 1]);
  const auto count = static_cast<std::size_t>(std::count(marks.begin(), marks.end(), true));
  if (count * 5 >= table.size() * 2) left_out.remove(table, marks, true);
}

}  // namespace

void leave_out_copies(Trace& trace) {
  LeftOut of_gpu(trace);
  each_work(trace, [&](auto& work) {
    auto order = rows_to_look_at(work, trace.gpu_lanes.size());
    auto marks = copies_of_rows(work, order);
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(work)>, Kernels>)
      mark_near_copies(trace, order, marks);
    if (std::find(marks.begin(), marks.end(), true) != marks.end()) of_gpu.remove(work, marks, true);
  });
  if (of_gpu.count() > 0)
    trace.notes.push_back(messages::copied_work({.count = of_gpu.count(), .name = of_gpu.name()}));
  LeftOut of_host(trace);
  leave_out_copies_of_host(trace.ranges, of_host);
  leave_out_copies_of_host(trace.calls, of_host);
  if (of_host.count() > 0)
    trace.notes.push_back(messages::copied_events_of_host({.count = of_host.count(), .name = of_host.name()}));
}

}  // namespace ridgeline::trace
