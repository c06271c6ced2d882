// SPDX-License-Identifier: Apache-2.0
#include "trace/import/implausible_records.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/analysis/range_names.hpp"
#include "trace/import/bound_values.hpp"
#include "trace/import/copied_records.hpp"
#include "trace/import/far_records.hpp"
#include "trace/import/left_out.hpp"
#include "trace/import/shifted_graph_ends.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
/// Kernels that one runs over before it is not believed: their neighbours may overlap a little.
constexpr std::size_t kMostCovered = 2;
constexpr std::int64_t kShortestKernel = 1000;  // of a GPU; shorter ones are made up

/// CUPTI gives 0 where it has no time.
void leave_out_work_at_zero(Trace& trace) {
  bool any_at_zero = false;
  Period others;
  each_work(trace, [&](auto& table) {
    for (const auto start : table.start_ns)
      if (start == 0)
        any_at_zero = true;
      else if (start > 0)
        others.add(start);
  });
  if (!any_at_zero || !others.any()) return;
  std::unordered_map<std::int64_t, std::int64_t> launched;  // when, the first of them, by correlation
  for (std::size_t i = 0; i < trace.calls.size(); ++i) {
    const auto [found, is_new] = launched.try_emplace(trace.calls.correlation[i], trace.calls.start_ns[i]);
    found->second = std::min(found->second, trace.calls.start_ns[i]);
  }
  const bool alone = others.first > std::max(kMillisecond, others.length());
  LeftOut left_out(trace);
  each_work(trace, [&](auto& table) {
    Marks marks(table.size());
    bool any = false;
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (table.start_ns[i] != 0) continue;
      const auto call = launched.find(table.correlation[i]);
      const bool launched_later = call != launched.end() && call->first != 0 && call->second > kMillisecond;
      marks[i] = alone || launched_later || (table.duration_ns[i] == 0 && others.first > kMillisecond);
      any = any || marks[i];
    }
    if (any) left_out.remove(table, marks);
  });
  if (left_out.count() > 0)
    trace.notes.push_back(messages::work_at_zero({.count = left_out.count(), .name = left_out.name()}));
}

/// Of a stream: a kernel, or a copy or a set, which no kernel runs over either.
struct StreamWork {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t kernel = 0;  ///< into Trace::kernels; size of it: no kernel
  std::size_t covered = 0;
};

/// How many each runs over: of work by its start, the longer first.
void count_covered(const Kernels& kernels, std::vector<StreamWork>& work) {
  std::sort(work.begin(), work.end(), [](const auto& a, const auto& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  const auto length = [](const StreamWork& one) { return one.end_ns - one.start_ns; };
  const auto in_graph = [&](const StreamWork& one) {
    return one.kernel < kernels.size() && kernels.graph_node[one.kernel] != 0;
  };
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < work.size(); ++i) {
    open.erase(std::remove_if(open.begin(), open.end(), [&](auto at) { return work[at].end_ns <= work[i].start_ns; }),
               open.end());
    for (const auto at : open)  // kernels of a graph may run beside each other
      if (work[at].end_ns >= work[i].end_ns && length(work[at]) > length(work[i]) &&
          !(in_graph(work[at]) && in_graph(work[i])))
        ++work[at].covered;
    open.push_back(i);
  }
}

/// The host's events come first in a file: behind the last work of a GPU that is left they would look like idle time.
void leave_out_behind_work(Trace& trace) {
  Period work;
  for (const Spans* spans : {static_cast<const Spans*>(&trace.kernels), static_cast<const Spans*>(&trace.copies),
                             static_cast<const Spans*>(&trace.sets)})
    for (std::size_t i = 0; i < spans->size(); ++i) work.add(spans->start_ns[i] + spans->duration_ns[i]);
  if (!work.any()) return;
  LeftOut left_out(trace);
  const auto cut = [&](auto& table) {
    Marks marks(table.size());
    for (std::size_t i = 0; i < table.size(); ++i) {
      const bool ends_behind = table.start_ns[i] + table.duration_ns[i] > work.last;
      marks[i] = table.start_ns[i] > work.last || (ends_behind && is_profiler_step(trace.strings.text(table.name[i])));
      if (ends_behind && !marks[i]) table.duration_ns[i] = work.last - table.start_ns[i];
    }
    left_out.remove(table, marks);
  };
  cut(trace.calls);
  cut(trace.ranges);
  if (left_out.count() > 0)
    trace.notes.push_back(messages::host_behind_work({.count = left_out.count(), .name = left_out.name()}));
}

void leave_out_kernels_over_others(Trace& trace) {
  auto& kernels = trace.kernels;
  const auto looked_at = disordered_lanes(kernels, trace.gpu_lanes.size());
  if (std::find(looked_at.begin(), looked_at.end(), true) == looked_at.end()) return;
  std::vector<std::vector<StreamWork>> lanes(trace.gpu_lanes.size());
  for (const Spans* spans : {static_cast<const Spans*>(&kernels), static_cast<const Spans*>(&trace.copies),
                             static_cast<const Spans*>(&trace.sets)})
    for (std::size_t i = 0; i < spans->size(); ++i)
      if (looked_at[spans->lane[i]])
        lanes[spans->lane[i]].push_back({spans->start_ns[i], spans->start_ns[i] + spans->duration_ns[i],
                                         spans == &kernels ? i : kernels.size(), 0});
  Marks marks(kernels.size());
  std::int64_t longest = -1;
  std::size_t most = 0;
  for (auto& work : lanes) {
    count_covered(kernels, work);
    const auto covers = [&](const StreamWork& one) {
      return one.kernel < kernels.size() && one.covered > kMostCovered && one.end_ns - one.start_ns >= kShortestKernel;
    };
    const auto count = static_cast<std::size_t>(std::count_if(work.begin(), work.end(), covers));
    if (count > std::max<std::size_t>(2, work.size() / 100)) continue;  // its records are not in order at all
    for (const auto& one : work) {
      if (!covers(one)) continue;
      marks[one.kernel] = true;
      longest = std::max(longest, kernels.duration_ns[one.kernel]);
      most = std::max(most, one.covered);
    }
  }
  if (longest < 0) return;
  LeftOut left_out(trace);
  left_out.remove(kernels, marks);
  trace.notes.push_back(messages::kernels_over_others({.count = left_out.count(),
                                                       .name = left_out.name(),
                                                       .longest = static_cast<double>(longest),
                                                       .others = static_cast<std::int64_t>(most)}));
}

/// A clock may be too coarse for a few kernels, but not for many.
void tell_missing_durations(Trace& trace) {
  const auto& durations = trace.kernels.duration_ns;
  const auto none = static_cast<std::size_t>(std::count(durations.begin(), durations.end(), 0));
  if (none == 0) return;
  const bool many = none * 10 >= durations.size() && (none > 1 || durations.size() == 1);
  trace.notes.push_back(messages::kernels_of_no_time(
      {.count = static_cast<std::int64_t>(none), .all = static_cast<std::int64_t>(durations.size()), .some = !many}));
  if (!many) return;
  trace.notes.push_back(messages::lacks_durations());
  trace.lacks_work = trace.lacks_durations = true;
}

}  // namespace

void leave_out_implausible(Trace& trace, bool cut_off) {
  leave_out_far_records(trace);
  bound_values(trace);  // so that what follows may add
  leave_out_work_at_zero(trace);
  leave_out_lone_work(trace);
  leave_out_copies(trace);
  correct_shifted_graph_ends(trace);
  leave_out_kernels_over_others(trace);
  if (cut_off) leave_out_behind_work(trace);
  tell_missing_durations(trace);
}

}  // namespace ridgeline::trace
