// SPDX-License-Identifier: Apache-2.0
#include "trace/import/whole_runs.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "trace/analysis/node_nesting.hpp"
#include "trace/analysis/range_names.hpp"
#include "trace/import/message_text.hpp"
#include "trace/import/row_remover.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kRounding = 2000;  // ns: of a begin and a duration, both rounded down
constexpr std::int64_t kBeyondRun = 10'000;

/// Rows like one before. `of_nodes`: also those shorter than a microsecond, which no two nodes of a name begin in.
Marks second_copies(const Spans& spans, bool of_nodes = false) {
  // Where begins only rise there are none, which is so of most files.
  std::map<LaneId, std::int64_t> latest;
  std::set<LaneId> looked_at;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const auto [found, is_new] = latest.try_emplace(spans.lane[i], spans.start_ns[i]);
    if (!is_new && spans.start_ns[i] <= found->second) looked_at.insert(spans.lane[i]);
    found->second = std::max(found->second, spans.start_ns[i]);
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < spans.size() && !looked_at.empty(); ++i)
    if ((of_nodes || spans.duration_ns[i] > 0) && looked_at.count(spans.lane[i]) > 0) order.push_back(i);
  const auto key = [&](std::size_t i) {
    return std::tuple(spans.lane[i], spans.start_ns[i], spans.duration_ns[i], spans.name[i]);
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
  Marks marks(spans.size());
  for (std::size_t i = 1; i < order.size(); ++i) marks[order[i]] = key(order[i]) == key(order[i - 1]);
  return marks;
}

std::int64_t end_of(const Spans& spans, std::size_t i) {
  const auto start = spans.start_ns[i];
  const auto most = std::numeric_limits<std::int64_t>::max();
  return start > most - spans.duration_ns[i] ? most : start + spans.duration_ns[i];
}

class WholeRuns {
 public:
  WholeRuns(Trace& trace, const ProfileOrder& order) : trace_(trace), order_(order), keeps_work_(trace.nodes.size()) {}

  base::Result<void> keep(const std::string& path, bool cut_off) {
    leave_out_copies();
    leave_out_sessions();
    const bool runs_overlap = leave_out_overlapping_runs();
    leave_out_long_nodes();
    if (cut_off) leave_out_cut_run();
    leave_out_nodes_outside();
    remove();
    if (runs_overlap || nodes_cross())
      return base::fail(base::ErrorCode::unsupported,
                        "{}: runs or nodes of one thread overlap; expected the profile of one session", path)
          .hint("import the profile of each session alone: ONNX Runtime writes a file for each");
    return {};
  }

 private:
  using Session = std::pair<std::int64_t, std::size_t>;  // process, and which of it

  void note(schema::Message message) { trace_.notes.push_back(std::move(message)); }
  [[nodiscard]] std::string name_of(const Spans& spans, std::size_t i) const {
    return message_text(trace_.strings.text(spans.name[i]));
  }

  void leave_out_copies() {
    nodes_ = second_copies(trace_.nodes, true);
    ranges_ = second_copies(trace_.ranges);
    kernels_ = second_copies(trace_.kernels);
    copies_ = second_copies(trace_.copies);
    calls_ = second_copies(trace_.calls);
    std::ptrdiff_t count = 0;
    for (const auto* marks : {&nodes_, &ranges_, &kernels_, &copies_, &calls_})
      count += std::count(marks->begin(), marks->end(), true);
    if (count > 0) note(messages::copied_events(count));
  }

  [[nodiscard]] bool is_run(std::size_t range) const {
    return !ranges_[range] && trace_.strings.text(trace_.ranges.name[range]) == kModelRun;
  }
  [[nodiscard]] Session session_of_node(std::size_t i) const {
    return {trace_.thread_lanes[trace_.nodes.lane[i]].process, order_.session_of_node[i]};
  }
  [[nodiscard]] Session session_of_range(std::size_t i) const {
    return {trace_.thread_lanes[trace_.ranges.lane[i]].process, order_.session_of_range[i]};
  }

  /// All but the one with most time, of its runs, and else of its nodes.
  void leave_out_sessions() {
    std::map<Session, std::pair<double, double>> times;  // of those with nodes
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (!nodes_[i]) times[session_of_node(i)].second += static_cast<double>(trace_.nodes.duration_ns[i]);
    if (times.size() < 2) return;
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      if (const auto found = times.find(session_of_range(i)); found != times.end() && is_run(i))
        found->second.first += static_cast<double>(trace_.ranges.duration_ns[i]);
    const auto kept = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) {
                        return a.second < b.second;
                      })->first;
    std::int64_t runs = 0;
    std::int64_t nodes = 0;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      if (session_of_range(i) == kept) continue;
      runs += is_run(i) ? 1 : 0;
      ranges_[i] = true;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (session_of_node(i) == kept) continue;
      nodes += nodes_[i] ? 0 : 1;
      nodes_[i] = true;
    }
    note(messages::several_sessions(
        {.sessions = static_cast<std::int64_t>(times.size()), .runs = runs, .nodes = nodes}));
  }

  /// Runs that stay, in order of their begins.
  [[nodiscard]] std::vector<std::size_t> runs() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < ranges_.size(); ++i)
      if (is_run(i)) out.push_back(i);
    std::stable_sort(out.begin(), out.end(),
                     [&](auto a, auto b) { return trace_.ranges.start_ns[a] < trace_.ranges.start_ns[b]; });
    return out;
  }

  /// A thread does one thing at a time. A few that overlap others are wrong themselves; true: they are many.
  [[nodiscard]] bool leave_out_overlapping_runs() {
    const auto& ranges = trace_.ranges;
    const auto all = runs();
    std::map<LaneId, std::size_t> last;
    std::vector<std::size_t> wrong;
    for (const auto run : all) {
      const auto [found, is_new] = last.try_emplace(ranges.lane[run], run);
      if (is_new) continue;
      auto& before = found->second;
      if (end_of(ranges, before) > ranges.start_ns[run] + kRounding) {
        const bool keep_later = ranges.duration_ns[run] < ranges.duration_ns[before];
        wrong.push_back(keep_later ? before : run);
        if (!keep_later) continue;
      }
      before = run;
    }
    if (wrong.size() > std::max<std::size_t>(1, all.size() / 10)) return true;
    for (const auto run : wrong) ranges_[run] = true;
    if (!wrong.empty()) note(messages::overlapping_runs(std::ssize(wrong)));
    return false;
  }

  /// One that begins within another of its thread ends within it.
  [[nodiscard]] bool nodes_cross() const {
    const auto& nodes = trace_.nodes;
    const NodeNesting nesting(nodes);
    std::size_t count = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      count += nesting.parent[i] != kNowhere && end_of(nodes, i) > end_of(nodes, nesting.parent[i]) + kBeyondRun;
    return count > std::max<std::size_t>(2, nodes.size() / 100);
  }

  /// Whether it is so of a run around a moment: of its thread, or else of any. `is_so` of a run.
  template <typename IsSo>
  [[nodiscard]] bool any_run_at(const std::vector<std::size_t>& all, LaneId lane, std::int64_t time, IsSo is_so) const {
    const auto& ranges = trace_.ranges;
    const auto after =
        std::partition_point(all.begin(), all.end(), [&](auto run) { return ranges.start_ns[run] <= time; });
    bool found = false;
    // Runs of one thread do not overlap, so that few of each are enough.
    std::size_t left = 2 * trace_.thread_lanes.size();
    for (auto at = after; at != all.begin() && left > 0; --left) {
      const auto run = *--at;
      if (end_of(ranges, run) + kRounding < time) continue;
      if (ranges.lane[run] == lane) return is_so(run);
      found = found || is_so(run);
    }
    return found;
  }

  void leave_out_long_nodes() {
    const auto all = runs();
    std::int64_t count = 0;
    std::size_t longest = 0;
    std::set<std::size_t> runs_of_them;
    const auto& nodes = trace_.nodes;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i]) continue;
      const auto ends_with = [&](auto run) { return end_of(nodes, i) - kBeyondRun <= end_of(trace_.ranges, run); };
      if (any_run_at(all, nodes.lane[i], nodes.start_ns[i], ends_with) ||
          !any_run_at(all, nodes.lane[i], nodes.start_ns[i], [](auto) { return true; }))
        continue;
      (void)any_run_at(all, nodes.lane[i], nodes.start_ns[i],
                       [&](auto run) { return runs_of_them.insert(run).second; });
      if (count++ == 0 || nodes.duration_ns[i] > nodes.duration_ns[longest]) longest = i;
      nodes_[i] = keeps_work_[i] = true;
    }
    if (count == 0) return;
    const bool most_are_whole = runs_of_them.size() * 2 <= all.size() && trace_.kernels.size() == 0;
    if (!most_are_whole) runs_of_them.clear();
    note(messages::overlong_nodes(
        {.count = count,
         .name = name_of(nodes, longest),
         .duration = static_cast<double>(nodes.duration_ns[longest]),
         .runs = runs_of_them.empty() ? std::nullopt : std::optional(std::ssize(runs_of_them))}));
    leave_out_runs(runs_of_them, all);
  }

  /// With all that ran in them: without one of its nodes the time of a run would be that of other nodes.
  void leave_out_runs(const std::set<std::size_t>& some, const std::vector<std::size_t>& all) {
    if (some.empty()) return;
    const auto& nodes = trace_.nodes;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      if (any_run_at(all, nodes.lane[i], nodes.start_ns[i], [&](auto run) { return some.contains(run); })) {
        nodes_[i] = true;
        keeps_work_[i] = false;
      }
    for (const auto run : some) ranges_[run] = true;
  }

  /// ONNX Runtime writes a run behind its nodes. Files that have it before them may lack some of the last one.
  void leave_out_cut_run() {
    const auto all = runs();
    bool runs_first = false;
    for (std::size_t i = 0; i < nodes_.size() && !runs_first; ++i)
      runs_first = !nodes_[i] && any_run_at(all, trace_.nodes.lane[i], trace_.nodes.start_ns[i],
                                            [&](auto run) { return order_.nodes_before[run] <= i; });
    if (!runs_first) return;
    ranges_[all.back()] = true;
    note(messages::cut_run());
  }

  void leave_out_nodes_outside() {
    const auto all = runs();
    if (all.empty()) return;
    Marks outside(nodes_.size());
    std::size_t count = 0;
    std::size_t inside = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i]) continue;
      outside[i] = !any_run_at(all, trace_.nodes.lane[i], trace_.nodes.start_ns[i], [](auto) { return true; });
      ++(outside[i] ? count : inside);
    }
    if (inside == 0 || count == 0) return;
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i] = nodes_[i] || outside[i];
    note(messages::nodes_outside(static_cast<std::int64_t>(count)));
  }

  void remove() {
    const auto with_nodes = [&](Marks& marks, const std::vector<std::size_t>& node_of) {
      for (std::size_t i = 0; i < marks.size(); ++i)
        marks[i] = marks[i] || (node_of[i] != ProfileOrder::kNoNode && nodes_[node_of[i]] && !keeps_work_[node_of[i]]);
    };
    with_nodes(kernels_, order_.node_of_kernel);
    with_nodes(copies_, order_.node_of_copy);
    with_nodes(calls_, order_.node_of_call);
    remove_rows(trace_.kernels, kernels_);
    remove_rows(trace_.copies, copies_);
    remove_rows(trace_.calls, calls_);
    remove_rows(trace_.ranges, ranges_);
    remove_rows(trace_.nodes, nodes_);
  }

  Trace& trace_;
  const ProfileOrder& order_;
  Marks nodes_;       ///< rows that are left out, and so below
  Marks keeps_work_;  ///< nodes that are, but not what they launched
  Marks ranges_;
  Marks kernels_;
  Marks copies_;
  Marks calls_;
};

}  // namespace

base::Result<void> keep_whole_runs(const std::string& path, Trace& trace, const ProfileOrder& order, bool cut_off) {
  return WholeRuns(trace, order).keep(path, cut_off);
}

}  // namespace ridgeline::trace
