// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/modules.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "trace/analysis/launching_nodes.hpp"
#include "trace/analysis/node_paths.hpp"
#include "trace/analysis/range_names.hpp"
#include "trace/analysis/range_paths.hpp"

namespace ridgeline::trace {
namespace {

using schema::ModuleKind;

/// For each backward operation the forward one of the same sequence number. A number is shared by an operation, what it
/// calls, and what ran before it without a gradient; the last of them to begin is the one with the gradient.
class ForwardOperations {
 public:
  explicit ForwardOperations(const Trace& trace) : trace_(trace) {
    const auto& ranges = trace.ranges;
    for (Place place = 0; place < ranges.size(); ++place) {
      if (ranges.kind[place] != RangeKind::operation || ranges.sequence[place] < 0 || is_backward(trace, place))
        continue;
      auto& of_threads = forward_[{process_of(place), ranges.sequence[place]}];
      const auto lane = ranges.lane[place];
      const auto found = std::find_if(of_threads.begin(), of_threads.end(),
                                      [&](const auto other) { return ranges.lane[other] == lane; });
      if (found == of_threads.end())
        of_threads.push_back(place);
      else if (ranges.start_ns[place] >= ranges.start_ns[*found])
        *found = place;
    }
    vote();
  }

  [[nodiscard]] Place of(Place backward) const {
    const auto found = forward_.find({process_of(backward), trace_.ranges.sequence[backward]});
    if (trace_.ranges.sequence[backward] < 0 || found == forward_.end()) return kNowhere;
    const auto& candidates = found->second;
    const auto lane = lanes_.find(thread_of(backward));
    if (lane != lanes_.end())
      for (const auto candidate : candidates)
        if (trace_.ranges.lane[candidate] == lane->second) return candidate;
    return candidates.front();
  }

 private:
  using Thread = std::pair<std::int64_t, std::int64_t>;  // process, and the profiler's own number of the thread

  [[nodiscard]] std::int64_t process_of(Place range) const {
    return trace_.thread_lanes[trace_.ranges.lane[range]].process;
  }
  [[nodiscard]] Thread thread_of(Place backward) const {
    return {process_of(backward), trace_.ranges.forward_thread[backward]};
  }

  /// Backward operations name their forward thread by a number of the profiler's own: it is the thread that has most of
  /// the sequence numbers.
  void vote() {
    std::map<std::pair<Thread, LaneId>, std::size_t> votes;
    for (Place place = 0; place < trace_.ranges.size(); ++place) {
      if (!is_backward(trace_, place)) continue;
      const auto found = forward_.find({process_of(place), trace_.ranges.sequence[place]});
      if (found == forward_.end()) continue;
      for (const auto candidate : found->second) ++votes[{thread_of(place), trace_.ranges.lane[candidate]}];
    }
    std::map<Thread, std::size_t> best;
    for (const auto& [who, count] : votes)
      if (auto& most = best[who.first]; count > most) {
        most = count;
        lanes_[who.first] = who.second;
      }
  }

  struct Hash {
    std::size_t operator()(const std::pair<std::int64_t, std::int64_t>& key) const {
      return std::hash<std::int64_t>()(static_cast<std::int64_t>(
          static_cast<std::uint64_t>(key.second) * 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(key.first)));
    }
  };
  const Trace& trace_;
  std::unordered_map<std::pair<std::int64_t, std::int64_t>, std::vector<Place>, Hash> forward_;
  std::map<Thread, LaneId> lanes_;
};

class Attributor {
 public:
  Attributor(const Trace& trace, const Nesting& nesting, const LaunchIndex& launches, const Steps& steps)
      : trace_(trace), nesting_(nesting), launches_(launches), forward_(trace), node_paths_(trace) {
    out_.rows.push_back({});
    out_.row_of_range.assign(trace.ranges.size(), 0);
    out_.opens_row.assign(trace.ranges.size(), false);
    out_.is_backward.assign(trace.ranges.size(), false);
    is_step_.assign(trace.ranges.size(), false);
    has_steps_ = !steps.steps.empty();
    for (Place range = 0; range < trace.ranges.size(); ++range)
      if (is_run(range)) runs_.push_back(range);
    std::stable_sort(runs_.begin(), runs_.end(),
                     [&](Place a, Place b) { return trace.ranges.start_ns[a] < trace.ranges.start_ns[b]; });
    of_session_ = trace.nodes.size() > 0 && runs_.empty();
    if (steps.numbered || steps.name == kModelRun)
      for (const auto& step : steps.steps) is_step_[step.range] = true;
  }

  Attribution attribute() {
    mark_backward();
    for (const auto range : nesting_.range_order)
      if (!out_.is_backward[range]) place(range);
    // A forward pass that is computed again within the backward pass comes before what needs it.
    std::vector<Place> backward;
    for (const auto range : nesting_.range_order)
      if (out_.is_backward[range]) backward.push_back(range);
    std::stable_sort(backward.begin(), backward.end(), [&](Place one, Place other) {
      return trace_.ranges.start_ns[one] < trace_.ranges.start_ns[other];
    });
    for (const auto range : backward) place(range);
    place_nodes();
    place_graph_nodes();
    out_.node_of_call = nodes_of_calls(trace_);
    const bool has_runs = trace_.nodes.size() > 0 && has_steps_ && (of_session_ || trace_.kernels.size() == 0);
    if (has_runs || has_unplaced_work()) {
      out_.unattributed = static_cast<Place>(out_.rows.size());
      out_.rows.push_back({0, has_runs ? "(outside of nodes)" : "(unattributed)", ModuleKind::unattributed});
    }
    return std::move(out_);
  }

 private:
  void mark_backward() {
    for (const auto range : nesting_.range_order) {
      const auto parent = nesting_.parent_of_range[range];
      out_.is_backward[range] = is_backward(trace_, range) || (parent != kNowhere && out_.is_backward[parent]);
    }
  }

  Place child(Place parent, std::string name, ModuleKind kind) {
    const auto [found, is_new] =
        children_.try_emplace({parent, kind, std::move(name)}, static_cast<Place>(out_.rows.size()));
    if (is_new) out_.rows.push_back({parent, std::get<2>(found->first), kind});
    return found->second;
  }

  void open(Place range, Place row) {
    out_.row_of_range[range] = row;
    out_.opens_row[range] = true;
  }

  void place(Place range) {
    const auto parent = nesting_.parent_of_range[range];
    const auto above = parent == kNowhere ? Place{0} : out_.row_of_range[parent];
    out_.row_of_range[range] = above;
    const auto name = trace_.strings.text(trace_.ranges.name[range]);
    const auto kind = trace_.ranges.kind[range];
    if (kind == RangeKind::operation) return place_operation(range, above, name);
    // What ONNX Runtime says of its session encloses nodes, which have places of their own.
    if (kind == RangeKind::annotation && (is_step_[range] || of_session_)) return;
    const bool is_module = kind == RangeKind::python && is_module_call(name);
    if (is_module && out_.rows[above].name == kBackwardPass) {
      // Nothing around a backward pass says where in the program its modules are.
      const auto forward = outermost_.find(name);
      return open(range, forward == outermost_.end() ? module_row(0, kind, name) : forward->second);
    }
    const auto row = module_row(above, kind, name);
    if (row == above) return;
    open(range, row);
    if (is_module && !out_.is_backward[range]) outermost_.try_emplace(name, row);
  }

  /// Of a range that is no operation: its own, or that above where it is no part of the program.
  Place module_row(Place above, RangeKind kind, std::string_view name) {
    if (kind == RangeKind::python && is_module_call(name)) {
      const auto row = child(above, std::string(module_name(name)), ModuleKind::module);
      if (auto& line = out_.rows[row].line; line.empty()) line = module_line(name);
      return row;
    }
    if (kind == RangeKind::python && is_session_run(name)) return child(above, std::string(name), ModuleKind::module);
    if (kind == RangeKind::annotation && !is_profiler_step(name))
      return child(above, annotation_name(name), ModuleKind::module);
    return above;
  }

  void place_operation(Place range, Place above, std::string_view name) {
    if (is_backward(trace_, range)) {
      if (const auto forward = forward_.of(range); forward != kNowhere) {
        const auto row = out_.row_of_range[forward];
        const bool again = row == above;  // the operation of an engine's node, within it
        out_.row_of_range[range] = row;
        out_.opens_row[range] = !again;
        return;
      }
    }
    if (out_.rows[above].kind == ModuleKind::operation) return;  // called by another
    open(range, child(above, std::string(name), ModuleKind::operation));
  }

  void place_nodes() {
    const auto& nodes = trace_.nodes;
    out_.row_of_node.assign(nodes.size(), 0);
    if (nodes.size() == 0) return;
    find_ranges_of_nodes();
    std::map<std::pair<Place, NameId>, Place> known;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto range = out_.range_of_node[i];
      const auto run = range == kNowhere ? run_at(i) : range;
      const auto above = run == kNowhere ? Place{0} : out_.row_of_range[run];
      const auto [found, is_new] = known.try_emplace({above, nodes.name[i]}, 0);
      if (is_new) found->second = node_row(above, node_paths_.of(nodes.name[i]));
      out_.row_of_node[i] = found->second;
    }
  }

  Place node_row(Place above, const NodePath& path) {
    for (const auto& part : path.modules) above = child(above, part, ModuleKind::module);
    return child(above, path.leaf, ModuleKind::node);
  }

  [[nodiscard]] bool is_run(Place range) const {
    return trace_.ranges.kind[range] == RangeKind::python &&
           is_session_run(trace_.strings.text(trace_.ranges.name[range]));
  }

  void find_ranges_of_nodes() {
    const auto& nodes = trace_.nodes;
    out_.range_of_node.assign(nodes.size(), kNowhere);
    if (of_session_) return;
    std::vector<Moment> starts;
    for (std::size_t i = 0; i < nodes.size(); ++i) starts.push_back({nodes.lane[i], nodes.start_ns[i]});
    out_.range_of_node = ranges_at(trace_, nesting_, starts);
    for (auto& range : out_.range_of_node)
      while (range != kNowhere && !out_.opens_row[range]) range = nesting_.parent_of_range[range];
  }

  /// The run of another thread of its process in which a node ran; kNowhere: none.
  [[nodiscard]] Place run_at(std::size_t node) const {
    const auto& ranges = trace_.ranges;
    const auto time = trace_.nodes.start_ns[node];
    const auto process = trace_.thread_lanes[trace_.nodes.lane[node]].process;
    auto after =
        std::partition_point(runs_.begin(), runs_.end(), [&](auto run) { return ranges.start_ns[run] <= time; });
    // Runs of one thread do not overlap, so that few of each are enough.
    for (auto left = trace_.thread_lanes.size(); after != runs_.begin() && left > 0; --left) {
      const auto run = *--after;
      if (ranges.start_ns[run] + ranges.duration_ns[run] > time &&
          trace_.thread_lanes[ranges.lane[run]].process == process)
        return run;
    }
    return kNowhere;
  }

  void place_graph_nodes() {
    for (const auto& node : trace_.graph_nodes) {
      Place row = 0;
      const auto path = trace_.strings.text(node.path);
      each_part(path, [&](RangeKind kind, std::string_view name) {
        if (kind != RangeKind::operation)
          row = module_row(row, kind, name);
        else if (!name.empty() && out_.rows[row].kind != ModuleKind::operation)
          row = child(row, std::string(name), ModuleKind::operation);
      });
      if (const auto name = session_node(path); !name.empty()) row = node_row(row, node_paths_.of(name));
      if (row != 0) out_.row_of_graph_node[{node.process, node.node}] = row;
    }
  }

  [[nodiscard]] bool has_unplaced_work() const {
    const auto is_unplaced = [&](Place call) {
      if (call != kNowhere && !out_.node_of_call.empty() && out_.node_of_call[call] != kNowhere) return false;
      return call == kNowhere || nesting_.range_of_call[call] == kNowhere ||
             out_.row_of_range[nesting_.range_of_call[call]] == 0;
    };
    const auto calls = launches_.calls_of(trace_.kernels);
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (is_unplaced(calls[i]) && out_.row_of_graph_kernel(trace_, i) == kNowhere) return true;
    for (const Spans* work : {static_cast<const Spans*>(&trace_.copies), static_cast<const Spans*>(&trace_.sets)})
      for (const auto call : launches_.calls_of(*work))
        if (is_unplaced(call)) return true;
    return false;
  }

  const Trace& trace_;
  const Nesting& nesting_;
  const LaunchIndex& launches_;
  ForwardOperations forward_;
  NodePaths node_paths_;
  Attribution out_;
  std::vector<bool> is_step_;
  bool has_steps_ = false;
  std::vector<Place> runs_;  ///< of sessions of ONNX Runtime, in a recorded program, by their starts
  bool of_session_ = false;  ///< its ranges are those of ONNX Runtime's own profiler
  std::map<std::tuple<Place, ModuleKind, std::string>, Place> children_;
  std::unordered_map<std::string_view, Place> outermost_;  ///< of a module's name: where it was first called
};

}  // namespace

Place Attribution::row_of_launch(Place call, const Nesting& nesting) const {
  if (call == kNowhere) return unattributed;
  if (!node_of_call.empty() && node_of_call[call] != kNowhere) return row_of_node[node_of_call[call]];
  const auto range = nesting.range_of_call[call];
  const auto row = range == kNowhere ? Place{0} : row_of_range[range];
  return row == 0 ? unattributed : row;
}

Place Attribution::row_of_graph_kernel(const Trace& trace, std::size_t kernel) const {
  const auto node = trace.kernels.graph_node[kernel];
  if (node == 0) return kNowhere;
  const auto found = row_of_graph_node.find({trace.gpu_lanes[trace.kernels.lane[kernel]].process, node});
  return found == row_of_graph_node.end() ? kNowhere : found->second;
}

Attribution attribute(const Trace& trace, const Nesting& nesting, const LaunchIndex& launches, const Steps& steps) {
  return Attributor(trace, nesting, launches, steps).attribute();
}

std::string path_of(const Attribution& attribution, Place row) {
  std::string path;
  for (auto at = row; at != kNowhere && at != 0; at = attribution.rows[at].parent)
    path = path.empty() ? attribution.rows[at].name : attribution.rows[at].name + "/" + path;
  return path;
}

}  // namespace ridgeline::trace
