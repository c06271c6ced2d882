// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/run_cut.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "schema/execution_provider.hpp"
#include "trace/analysis/node_nesting.hpp"
#include "trace/analysis/range_names.hpp"

namespace ridgeline::campaign {
namespace {

/// What a provider that compiles the graph calls its part: "OpenVINOExecutionProvider_OpenVINO-EP-subgraph_1".
std::string operation_of(std::string_view operation, std::string_view provider) {
  const auto* row = schema::find_provider_named(provider);
  if (row == nullptr || !(row->compiles_graph || row->own_threads)) return std::string(operation);
  const bool is_part = operation.find(provider) != std::string_view::npos ||
                       operation.find("subgraph") != std::string_view::npos ||
                       operation.find("TRTKernel") != std::string_view::npos;
  return is_part ? "compiled by " + row->title : std::string(operation);
}

/// Ends of the runs by their starts.
std::map<std::int64_t, std::int64_t> run_ends(const trace::Trace& trace) {
  std::map<std::int64_t, std::int64_t> ends;
  for (std::size_t i = 0; i < trace.ranges.size(); ++i)
    if (trace.strings.text(trace.ranges.name[i]) == trace::kModelRun)
      ends[trace.ranges.start_ns[i]] = trace.ranges.start_ns[i] + trace.ranges.duration_ns[i];
  return ends;
}

/// Time of a run as it passes without what the profiler takes: from each node's begin to the next one's so much less.
class ShorterTime {
 public:
  /// Nodes begin in their order; the last slot of a run ends with it.
  void add(std::int64_t start, std::int64_t end, double event_ns, bool first_of_run) {
    const auto whole = std::max<std::int64_t>(0, end - start);
    // At least 1 ns: nodes that begin at the same time would be parts of each other, or behind their run.
    const auto least = std::min<std::int64_t>(1, whole);
    const auto left = std::max<std::int64_t>(least, std::llround(static_cast<double>(whole) - event_ns));
    if (first_of_run) off_before_run_ = off_;
    slots_.push_back({start, start - (off_ - off_before_run_), left, off_});
    off_ += whole - left;
  }
  /// Of a moment within a run, behind the begin of its first node.
  [[nodiscard]] std::int64_t at(std::int64_t time) const {
    const auto& slot = *(behind_begins_before(time) - 1);
    return slot.new_start + std::min(time - slot.start, slot.left);
  }
  /// What is taken off nodes that begin before then.
  [[nodiscard]] std::int64_t off_before(std::int64_t time) const {
    const auto slot = behind_begins_before(time);
    return slot == slots_.end() ? off_ : slot->off;
  }
  [[nodiscard]] std::int64_t new_start(std::size_t slot) const { return slots_[slot].new_start; }

 private:
  struct Slot {
    std::int64_t start = 0;
    std::int64_t new_start = 0;
    std::int64_t left = 0;
    std::int64_t off = 0;  ///< in all before it
  };
  [[nodiscard]] std::vector<Slot>::const_iterator behind_begins_before(std::int64_t time) const {
    return std::partition_point(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.start < time; });
  }
  std::vector<Slot> slots_;
  std::int64_t off_ = 0;
  std::int64_t off_before_run_ = 0;
};

/// Takes `event_ns` off each node and the runs around it; what follows begins so much earlier.
void take_off(trace::Trace& trace, double event_ns) {
  auto& nodes = trace.nodes;
  const trace::NodeNesting nesting(nodes);
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return nodes.start_ns[a] < nodes.start_ns[b]; });
  const auto ends = run_ends(trace);
  ShorterTime time;
  std::vector<std::int64_t> last_until(nodes.size());  // by the nodes in order
  std::int64_t run_begin = -1;
  std::size_t outer = 0;  // the last in order that is no part of another
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto node = order[i];
    const auto start = nodes.start_ns[node];
    const auto run = ends.upper_bound(start);
    if (run == ends.begin()) return;  // a node outside of all runs
    const auto [begin, run_end] = *std::prev(run);
    const auto& around = order[outer];
    if (i > 0 && nodes.lane[around] != nodes.lane[node] && start < nodes.start_ns[around] + nodes.duration_ns[around])
      return;  // beside another
    last_until[i] = std::min(start + nodes.duration_ns[node], run_end);
    if (nesting.parent[node] == trace::kNowhere) {
      if (begin == run_begin) last_until[outer] = start;
      last_until[i] = run_end;
      outer = i;
    }
    time.add(start, std::min(i + 1 < order.size() ? nodes.start_ns[order[i + 1]] : run_end, run_end), event_ns,
             begin != run_begin);
    run_begin = begin;
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto& start = nodes.start_ns[order[i]];
    nodes.duration_ns[order[i]] = last_until[i] > start ? time.at(last_until[i]) - time.new_start(i) : 0;
    start = time.new_start(i);
  }
  auto& ranges = trace.ranges;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    ranges.duration_ns[i] -=
        time.off_before(ranges.start_ns[i] + ranges.duration_ns[i]) - time.off_before(ranges.start_ns[i]);
}

/// Kernels and copies from that time on.
void keep_gpu_work(const trace::Trace& all, std::int64_t from, trace::Trace& out) {
  const auto keep = [&](const trace::Spans& spans, trace::Spans& into, std::size_t i) {
    into.add(spans.start_ns[i], spans.duration_ns[i], out.strings.id(all.strings.text(spans.name[i])),
             out.gpu_lane(all.gpu_lanes[spans.lane[i]]), spans.correlation[i]);
  };
  const auto& kernels = all.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels.start_ns[i] < from) continue;
    keep(kernels, out.kernels, i);
    out.kernels.grid.push_back(kernels.grid[i]);
    out.kernels.block.push_back(kernels.block[i]);
    out.kernels.registers.push_back(kernels.registers[i]);
    out.kernels.shared_bytes.push_back(kernels.shared_bytes[i]);
    out.kernels.graph_node.push_back(kernels.graph_node[i]);
  }
  for (std::size_t i = 0; i < all.copies.size(); ++i) {
    if (all.copies.start_ns[i] < from) continue;
    keep(all.copies, out.copies, i);
    out.copies.bytes.push_back(all.copies.bytes[i]);
  }
}

}  // namespace

trace::Trace counted_runs(const trace::Trace& all, const schema::ProfiledModel& model, double own_ns) {
  std::vector<std::int64_t> begins;
  for (std::size_t i = 0; i < all.ranges.size(); ++i)
    if (all.strings.text(all.ranges.name[i]) == trace::kModelRun) begins.push_back(all.ranges.start_ns[i]);
  std::sort(begins.begin(), begins.end());
  const auto from = model.warmups < static_cast<std::int64_t>(begins.size())
                        ? begins[static_cast<std::size_t>(model.warmups)]
                        : std::numeric_limits<std::int64_t>::max();
  trace::Trace out;
  out.notes = all.notes;
  const auto& ranges = all.ranges;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges.start_ns[i] < from) continue;
    out.ranges.add(ranges.start_ns[i], ranges.duration_ns[i], out.strings.id(all.strings.text(ranges.name[i])),
                   out.thread_lane(all.thread_lanes[ranges.lane[i]]), 0);
    out.ranges.kind.push_back(ranges.kind[i]);
    out.ranges.sequence.push_back(-1);
    out.ranges.forward_thread.push_back(0);
  }
  const auto& nodes = all.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes.start_ns[i] < from) continue;
    const auto name = std::string(all.strings.text(nodes.name[i]));
    const auto path = model.paths.find(name);
    out.nodes.add(nodes.start_ns[i], nodes.duration_ns[i],
                  out.strings.id(path == model.paths.end() ? name : path->second),
                  out.thread_lane(all.thread_lanes[nodes.lane[i]]), nodes.correlation[i]);
    const auto provider = all.strings.text(nodes.provider[i]);
    out.nodes.operation.push_back(out.strings.id(operation_of(all.strings.text(nodes.operation[i]), provider)));
    out.nodes.provider.push_back(out.strings.id(provider));
    out.nodes.activation_bytes.push_back(nodes.activation_bytes[i]);
    out.nodes.parameter_bytes.push_back(nodes.parameter_bytes[i]);
    out.nodes.output_bytes.push_back(nodes.output_bytes[i]);
    const auto flops = model.flops.find(name);
    out.nodes.flops.push_back(nodes.flops[i] < 0 && flops != model.flops.end() ? std::llround(flops->second)
                                                                               : nodes.flops[i]);
  }
  keep_gpu_work(all, from, out);
  const auto runs = std::max<std::int64_t>(0, static_cast<std::int64_t>(begins.size()) - model.warmups);
  if (own_ns > 0 && out.nodes.size() > 0)
    take_off(out, own_ns * static_cast<double>(runs) / static_cast<double>(out.nodes.size()));
  return out;
}

}  // namespace ridgeline::campaign
