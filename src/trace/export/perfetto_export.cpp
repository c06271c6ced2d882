// SPDX-License-Identifier: Apache-2.0
#include "trace/export/perfetto_export.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "trace/analysis/gpu_allocations.hpp"
#include "trace/analysis/gpu_counters.hpp"
#include "trace/export/launch_flows.hpp"
#include "trace/export/perfetto_writer.hpp"
#include "trace/export/slice_lanes.hpp"

namespace ridgeline::trace {
namespace {

using base::Result;

/// Rows of a table by their lanes.
class RowsByLane {
 public:
  RowsByLane(const Spans& spans, std::size_t lanes) : offsets_(lanes + 1), rows_(spans.size()) {
    for (const auto lane : spans.lane) ++offsets_[lane + 1];
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    auto next = offsets_;
    for (std::size_t i = 0; i < spans.size(); ++i) rows_[next[spans.lane[i]]++] = static_cast<Place>(i);
  }
  [[nodiscard]] std::span<const Place> of(LaneId lane) const {
    return std::span(rows_).subspan(offsets_[lane], offsets_[lane + 1] - offsets_[lane]);
  }

 private:
  std::vector<std::size_t> offsets_;
  std::vector<Place> rows_;
};

/// Linux gives numbers of threads and processes that fit; others are no numbers of the system.
std::int32_t system_number(std::int64_t number) {
  return number > 0 && number <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int32_t>(number) : 0;
}

class PerfettoExport {
 public:
  PerfettoExport(const Trace& trace, OutputFile& file)
      : trace_(trace), file_(file), times_(trace), flows_(trace), writer_(file, trace.strings, first_moment(trace)) {
    for (std::size_t i = 0; i < kTables; ++i) {
      const auto table = static_cast<Table>(i);
      rows_.emplace_back(spans_of(trace, table),
                         is_of_thread(table) ? trace.thread_lanes.size() : trace.gpu_lanes.size());
    }
  }

  void write() {
    write_processes();
    // Threads first: arrows begin there, and of events of one moment readers take the first of the file first.
    write_threads();
    write_gpus();
    write_memory();
    write_gpu_samples();
  }

 private:
  static bool is_of_thread(Table table) {
    return table == Table::ranges || table == Table::nodes || table == Table::calls;
  }

  static std::int64_t first_moment(const Trace& trace) {
    auto first = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < kTables; ++i)
      for (const auto start : spans_of(trace, static_cast<Table>(i)).start_ns) first = std::min(first, start);
    for (const auto time : trace.allocations.time_ns) first = std::min(first, time);
    for (const auto& sample : trace.gpu_samples) first = std::min(first, sample.time_ns);
    return first == std::numeric_limits<std::int64_t>::max() ? 0 : first;
  }

  [[nodiscard]] std::vector<Slice> slices(LaneId lane, std::initializer_list<Table> tables) const {
    std::vector<Slice> out;
    for (const auto table : tables)
      for (const auto row : rows_[static_cast<std::size_t>(table)].of(lane)) out.push_back({row, table});
    return out;
  }

  void write_processes() {
    std::set<std::int64_t> processes;
    for (const auto& lane : trace_.thread_lanes) processes.insert(lane.process);
    for (const auto& lane : trace_.gpu_lanes)
      if (lane.process != 0) processes.insert(lane.process);
    for (const auto process : processes) {
      PerfettoTrack track;
      track.process = system_number(process);
      if (track.process == 0) track.name = fmt::format("process {}", process);
      processes_[process] = writer_.add_track(track);
    }
  }

  void write_threads() {
    std::vector<LaneId> order(trace_.thread_lanes.size());
    std::iota(order.begin(), order.end(), LaneId{0});
    std::sort(order.begin(), order.end(),
              [&](LaneId a, LaneId b) { return trace_.thread_lanes[a] < trace_.thread_lanes[b]; });
    for (const auto lane : order) write_thread(lane);
  }

  void write_thread(LaneId lane) {
    const auto& thread = trace_.thread_lanes[lane];
    auto lanes = split_into_lanes(times_, slices(lane, {Table::ranges, Table::nodes}));
    if (lanes.empty()) lanes.emplace_back();
    auto calls = add_what_nests(times_, slices(lane, {Table::calls}), lanes[0]);
    const auto own = split_into_lanes(times_, std::move(calls));
    if (lanes[0].empty()) return;
    PerfettoTrack track;
    track.parent = processes_[thread.process];
    track.process = system_number(thread.process);
    track.thread = track.process != 0 ? system_number(thread.thread) : 0;
    if (track.thread == 0) {
      track.process = 0;
      track.name = fmt::format("thread {}", thread.thread);
    }
    track.has_ranked_children = true;
    const auto uuid = write_track(track, lanes[0]);
    std::int32_t rank = 0;
    lanes.erase(lanes.begin());
    write_lanes(uuid, fmt::format("thread {}", thread.thread), lanes, rank, 2);
    write_lanes(uuid, "CUDA calls", own, rank);
  }

  void write_gpus() {
    std::map<std::pair<std::int64_t, std::int32_t>, std::vector<LaneId>> groups;
    for (LaneId lane = 0; lane < trace_.gpu_lanes.size(); ++lane)
      groups[{trace_.gpu_lanes[lane].process, trace_.gpu_lanes[lane].device}].push_back(lane);
    std::int32_t rank = 0;
    for (auto& [place, lanes] : groups) {
      PerfettoTrack group;
      group.name = gpu_name(place.second);
      if (const auto process = processes_.find(place.first); place.first != 0 && process != processes_.end())
        group.parent = process->second;
      group.rank = rank++;
      group.has_ranked_children = true;
      write_gpu(writer_.add_track(group), lanes);
    }
  }

  [[nodiscard]] std::string gpu_name(std::int32_t device) const {
    for (const auto& one : trace_.devices)
      if (one.id == device && !one.name.empty()) return fmt::format("GPU {} ({})", device, one.name);
    return fmt::format("GPU {}", device);
  }

  void write_gpu(std::uint64_t group, std::vector<LaneId>& lanes) {
    const auto& all = trace_.gpu_lanes;
    std::sort(lanes.begin(), lanes.end(), [&](LaneId a, LaneId b) { return all[a] < all[b]; });
    const bool has_contexts = all[lanes.front()].context != all[lanes.back()].context;
    std::int32_t rank = 0;
    for (const auto lane : lanes) {
      const auto context = has_contexts ? fmt::format("context {} ", all[lane].context) : std::string();
      const auto stream = fmt::format("{}stream {}", context, all[lane].stream);
      write_lanes(group, stream, split_into_lanes(times_, slices(lane, {Table::kernels, Table::copies, Table::sets})),
                  rank);
      // Waits for all of a device have no stream.
      const auto syncs = all[lane].stream < 0 ? context + "syncs" : stream + " syncs";
      write_lanes(group, syncs, split_into_lanes(times_, slices(lane, {Table::syncs})), rank);
    }
  }

  void write_memory() {
    const auto& all = trace_.allocations;
    for (const auto& [gpu, rows] : gpu_allocations(trace_)) {
      const auto process = gpu.first != 0 ? processes_[gpu.first] : 0;
      write_counter(process, fmt::format("GPU {} allocated memory", gpu.second), rows, all.allocated_bytes);
      write_counter(process, fmt::format("GPU {} reserved memory", gpu.second), rows, all.reserved_bytes);
    }
  }

  void write_counter(std::uint64_t parent, const std::string& name, const std::vector<std::size_t>& rows,
                     const std::vector<std::int64_t>& values) {
    PerfettoTrack track;
    track.name = name;
    track.parent = parent;
    track.counts_bytes = true;
    writer_.add_track(track);
    auto now = trace_.allocations.time_ns[rows.front()];
    std::int64_t value = -1;
    for (const auto row : rows) {
      if (file_.failed()) break;
      now = std::max(now, trace_.allocations.time_ns[row]);  // what was held is first whatever the file says
      if (values[row] != value) writer_.count(now, values[row]);
      value = values[row];
    }
  }

  /// Clocks, power, temperature and throttling, each a counter of the GPU.
  void write_gpu_samples() {
    for (const auto& counter : gpu_counters(trace_)) {
      PerfettoTrack track;
      track.name = counter.name;
      track.unit = counter.unit;
      writer_.add_track(track);
      std::int64_t before = -1;
      for (const auto& [time_ns, value] : counter.values) {
        if (file_.failed()) break;
        if (value != before) writer_.count(time_ns, value);
        before = value;
      }
    }
  }

  /// "stream 7", "stream 7 (2)".
  void write_lanes(std::uint64_t parent, const std::string& name, const std::vector<SliceLane>& lanes,
                   std::int32_t& rank, std::size_t first = 1) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      PerfettoTrack track;
      track.name = i + first == 1 ? name : fmt::format("{} ({})", name, i + first);
      track.parent = parent;
      track.rank = rank++;
      write_track(track, lanes[i]);
    }
  }

  std::uint64_t write_track(const PerfettoTrack& track, const SliceLane& lane) {
    const auto uuid = writer_.add_track(track);
    std::vector<std::int64_t> open;  // ends
    for (const auto slice : lane) {
      if (file_.failed()) break;
      const auto start = times_.start(slice);
      for (; !open.empty() && open.back() <= start; open.pop_back()) writer_.end_slice(open.back());
      write_beginning(slice, start);
      open.push_back(times_.end(slice));
    }
    for (; !open.empty(); open.pop_back()) writer_.end_slice(open.back());
    return uuid;
  }

  void write_beginning(Slice slice, std::int64_t start) {
    const auto row = slice.row;
    const auto number = [&](PerfettoArgument name, std::int64_t value) {
      if (value >= 0) writer_.add_number(name, value);
    };
    if (slice.table == Table::kernels) {
      const auto& kernels = trace_.kernels;
      if (kernels.grid[row] != Dim3()) writer_.add_extent(PerfettoArgument::grid, kernels.grid[row]);
      if (kernels.block[row] != Dim3()) writer_.add_extent(PerfettoArgument::block, kernels.block[row]);
      if (kernels.registers[row] > 0) {  // the file tells how it was launched
        number(PerfettoArgument::registers_per_thread, kernels.registers[row]);
        number(PerfettoArgument::shared_bytes, kernels.shared_bytes[row]);
      }
      if (kernels.graph_node[row] != 0)
        writer_.add_number(PerfettoArgument::graph_node, static_cast<std::int64_t>(kernels.graph_node[row]));
    } else if (slice.table == Table::copies || slice.table == Table::sets) {
      number(PerfettoArgument::bytes, (slice.table == Table::copies ? trace_.copies : trace_.sets).bytes[row]);
    } else if (slice.table == Table::nodes) {
      const auto& nodes = trace_.nodes;
      writer_.add_text(PerfettoArgument::operation, nodes.operation[row]);
      writer_.add_text(PerfettoArgument::provider, nodes.provider[row]);
      number(PerfettoArgument::activation_bytes, nodes.activation_bytes[row]);
      number(PerfettoArgument::parameter_bytes, nodes.parameter_bytes[row]);
      number(PerfettoArgument::output_bytes, nodes.output_bytes[row]);
    }
    const auto begun = slice.table == Table::calls ? flows_.of_call(row) : std::span<const std::uint32_t>();
    writer_.begin_slice(start, spans_of(trace_, slice.table).name[row], category_of(trace_, slice), begun,
                        flows_.of_work(slice));
  }

  const Trace& trace_;
  OutputFile& file_;
  SliceTimes times_;
  LaunchFlows flows_;
  PerfettoWriter writer_;
  std::vector<RowsByLane> rows_;                     ///< of each table
  std::map<std::int64_t, std::uint64_t> processes_;  ///< uuids of their tracks
};

}  // namespace

Result<void> write_perfetto(const Trace& trace, const std::string& path) {
  RL_TRY_ASSIGN(auto file, OutputFile::create(path));
  PerfettoExport(trace, file).write();
  return file.finish();
}

}  // namespace ridgeline::trace
