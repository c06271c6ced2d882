// SPDX-License-Identifier: Apache-2.0
#include "trace/import/implausible_records.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/analysis/range_names.hpp"
#include "trace/file/table_columns.hpp"
#include "trace/import/bound_values.hpp"
#include "trace/import/message_text.hpp"
#include "trace/import/row_remover.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kHour = 3'600'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;
/// Kernels that one runs over before it is not believed: their neighbours may overlap a little.
constexpr std::size_t kMostCovered = 2;
constexpr std::int64_t kShortestKernel = 1000;  // of a GPU; shorter ones are made up

/// `visit` each table of spans.
template <typename Visit>
void each_spans(Trace& trace, Visit visit) {
  each_table(trace, [&](BlockKind, auto& table) {
    if constexpr (std::is_base_of_v<Spans, std::remove_reference_t<decltype(table)>>) visit(table);
  });
}

std::int64_t difference(std::int64_t later, std::int64_t earlier) {
  const auto span = static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(span, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

std::string duration_words(std::int64_t ns) { return base::format_duration(static_cast<double>(ns)); }

/// Times from `first` to `last`.
struct Period {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  void add(std::int64_t time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
  [[nodiscard]] bool any() const { return first <= last; }
  [[nodiscard]] std::int64_t length() const { return difference(last, first); }
};

/// What is removed for one reason.
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
      if (marks[i] && count_++ == 0) name_ = message_text(trace_.strings.text(table.name[i]));
    }
    remove_rows(table, marks);
    for (const auto correlation : others) launched.erase(correlation);
    if (launched.empty()) return;
    for (auto& correlation : trace_.calls.correlation)
      if (launched.count(correlation) > 0) correlation = 0;
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  void note(std::string_view what, std::string_view how) const {
    trace_.notes.push_back(fmt::format("{}, left out: {} ({}{})", what, count_, name_, how));
  }

 private:
  Trace& trace_;
  std::size_t count_ = 0;
  std::string name_;
};

/// Nodes, and in their trace the runs around them, are not believed where they end far from all others either: of work
/// and ranges of other traces the begins say enough.
template <typename Table>
std::int64_t last_moment(const Trace& trace, const Table& table, std::size_t i) {
  constexpr bool kMayBeOfNodes = std::is_same_v<Table, Nodes> || std::is_same_v<Table, Ranges>;
  const auto start = table.start_ns[i];
  if (!kMayBeOfNodes || trace.nodes.size() == 0) return start;
  const auto most = std::numeric_limits<std::int64_t>::max();
  return start > most - table.duration_ns[i] ? most : start + table.duration_ns[i];
}

/// The largest set of times without an hour between two of them; none where others are many.
Period main_period(std::vector<std::int64_t>& starts) {
  std::sort(starts.begin(), starts.end());
  std::size_t begin = 0;
  std::size_t best = 0;
  std::size_t most = 0;
  for (std::size_t i = 1; i <= starts.size(); ++i) {
    if (i < starts.size() && difference(starts[i], starts[i - 1]) <= kHour) continue;
    if (i - begin > most) {
      most = i - begin;
      best = begin;
    }
    begin = i;
  }
  const auto others = starts.size() - most;
  if (others >= most || others > std::max<std::size_t>(3, starts.size() / 10)) return {};
  return {starts[best], starts[best + most - 1]};
}

void leave_out_far_ones(Trace& trace) {
  Period all;
  each_spans(trace, [&](auto& table) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      all.add(table.start_ns[i]);
      all.add(last_moment(trace, table, i));
    }
  });
  if (!all.any() || all.length() <= kHour) return;
  std::vector<std::int64_t> starts;
  each_spans(trace, [&](auto& table) { starts.insert(starts.end(), table.start_ns.begin(), table.start_ns.end()); });
  const auto main = main_period(starts);
  // What lies as far away as the rest is long may be another part of the program.
  if (!main.any()) return;
  const auto least = std::max(kHour, main.length() > std::numeric_limits<std::int64_t>::max() / 10
                                         ? std::numeric_limits<std::int64_t>::max()
                                         : main.length() * 10);
  const auto is_far = [&](std::int64_t start) {
    return start < main.first ? difference(main.first, start) > least
                              : start > main.last && difference(start, main.last) > least;
  };
  if (!is_far(all.first) && !is_far(all.last)) return;
  LeftOut left_out(trace);
  std::int64_t distance = 0;
  each_spans(trace, [&](auto& table) {
    Marks marks(table.size());
    bool any = false;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const auto far = is_far(table.start_ns[i]) ? table.start_ns[i] : last_moment(trace, table, i);
      if (!is_far(far)) continue;
      distance = std::max(distance, far < main.first ? difference(main.first, far) : difference(far, main.last));
      marks[i] = any = true;
    }
    if (any) left_out.remove(table, marks);
  });
  left_out.note("records hours from all others", fmt::format(", {} away", duration_words(distance)));
}

/// CUPTI gives 0 where it has no time.
void leave_out_work_at_zero(Trace& trace) {
  bool any_at_zero = false;
  Period others;
  const auto each_work = [&](auto visit) {
    visit(trace.kernels);
    visit(trace.copies);
    visit(trace.sets);
  };
  each_work([&](auto& table) {
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
  each_work([&](auto& table) {
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
  if (left_out.count() > 0) left_out.note("work of a GPU at time 0, before it was recorded", "");
}

/// Of a stream: a kernel, or a copy or a set, which no kernel runs over either.
struct StreamWork {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::size_t kernel = 0;  ///< into Trace::kernels; size of it: no kernel
  std::size_t covered = 0;
};

/// Lanes whose work overlaps, or is not in order in the file.
std::vector<bool> lanes_to_look_at(const Spans& work, std::size_t lanes) {
  std::vector<bool> out(lanes);
  std::vector<std::int64_t> reached(lanes, std::numeric_limits<std::int64_t>::min());
  for (std::size_t i = 0; i < work.size(); ++i) {
    auto& end = reached[work.lane[i]];
    if (work.start_ns[i] < end) out[work.lane[i]] = true;
    end = work.start_ns[i] + work.duration_ns[i];
  }
  return out;
}

/// A stream does nothing twice at the same moment: such rows are copies.
Marks copies_of_rows(const Spans& work, std::size_t lanes) {
  Marks marks(work.size());
  const auto looked_at = lanes_to_look_at(work, lanes);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < work.size(); ++i)
    if (looked_at[work.lane[i]] && work.duration_ns[i] > 0) order.push_back(i);
  const auto key = [&](std::size_t i) {
    return std::tuple(work.lane[i], work.start_ns[i], work.duration_ns[i], work.name[i], work.correlation[i]);
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  for (std::size_t i = 1; i < order.size(); ++i) marks[order[i]] = key(order[i]) == key(order[i - 1]);
  return marks;
}

/// As a file has them that was written twice.
void leave_out_copies(Trace& trace) {
  LeftOut left_out(trace);
  const auto leave_out = [&](auto& work) {
    const auto marks = copies_of_rows(work, trace.gpu_lanes.size());
    if (std::find(marks.begin(), marks.end(), true) != marks.end()) left_out.remove(work, marks, true);
  };
  leave_out(trace.kernels);
  leave_out(trace.copies);
  leave_out(trace.sets);
  if (left_out.count() > 0) left_out.note("second copies of the same work of a GPU", "");
}

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
  if (left_out.count() > 0) left_out.note("what the host did behind the last work of a GPU that is in the file", "");
}

void leave_out_kernels_over_others(Trace& trace) {
  auto& kernels = trace.kernels;
  const auto looked_at = lanes_to_look_at(kernels, trace.gpu_lanes.size());
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
  left_out.note("kernels that run over others on their stream",
                fmt::format(", {} over {} others", duration_words(longest), most));
}

}  // namespace

void leave_out_implausible(Trace& trace, bool cut_off) {
  leave_out_far_ones(trace);
  bound_values(trace);  // so that what follows may add
  leave_out_work_at_zero(trace);
  leave_out_copies(trace);
  leave_out_kernels_over_others(trace);
  if (cut_off) leave_out_behind_work(trace);
}

}  // namespace ridgeline::trace
