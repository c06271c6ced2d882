// SPDX-License-Identifier: Apache-2.0
#include "trace/record/merge_traces.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "trace/import/bound_values.hpp"
#include "tracefile/table_columns.hpp"

namespace ridgeline::trace {
namespace {

/// Numbers of one trace by those of the trace that it goes to.
struct NewNumbers {
  std::vector<NameId> names;
  std::vector<LaneId> gpu_lanes;
  std::vector<LaneId> thread_lanes;
  std::int64_t correlations = 0;  ///< that are taken
};

/// Renumbers the columns of a table that have numbers of their trace.
class Renumberer {
 public:
  explicit Renumberer(const NewNumbers& numbers) : numbers_(numbers) {}
  template <typename Value>
  void deltas(std::vector<Value>&) {}
  void durations(std::vector<std::int64_t>&, const std::vector<std::int64_t>&) {}
  void names(std::vector<NameId>& column) { renumber(column, numbers_.names); }
  template <bool kOfGpu>
  void lanes(std::vector<LaneId>& column) {
    renumber(column, kOfGpu ? numbers_.gpu_lanes : numbers_.thread_lanes);
  }
  template <typename Kind>
  void kinds(std::vector<Kind>&) {}
  template <typename Value>
  void numbers(std::vector<Value>&) {}
  void extents(std::vector<Dim3>&) {}

 private:
  static void renumber(std::vector<std::uint32_t>& column, const std::vector<std::uint32_t>& by) {
    for (auto& number : column) number = by[number];
  }

  const NewNumbers& numbers_;
};

/// Visits every column of a table: `visit(column)`.
template <typename Visit>
class EachColumn {
 public:
  explicit EachColumn(Visit visit) : visit_(std::move(visit)) {}
  template <typename Column>
  void deltas(Column& column) {
    visit_(column);
  }
  template <typename Column>
  void durations(Column& column, const std::vector<std::int64_t>&) {
    visit_(column);
  }
  template <typename Column>
  void names(Column& column) {
    visit_(column);
  }
  template <bool kOfGpu, typename Column>
  void lanes(Column& column) {
    visit_(column);
  }
  template <typename Column>
  void kinds(Column& column) {
    visit_(column);
  }
  template <typename Column>
  void numbers(Column& column) {
    visit_(column);
  }
  template <typename Column>
  void extents(Column& column) {
    visit_(column);
  }

 private:
  Visit visit_;
};

template <typename Table>
void append_rows(Table& table, const Table& rows) {
  std::vector<const void*> columns;  // of the same types, in the same order
  EachColumn of_rows([&](const auto& column) { columns.push_back(&column); });
  code_columns(of_rows, rows);
  auto next = columns.begin();
  EachColumn of_table([&](auto& column) {
    const auto& more = *static_cast<const std::remove_reference_t<decltype(column)>*>(*next++);
    column.insert(column.end(), more.begin(), more.end());
  });
  code_columns(of_table, table);
}

void add_device(std::vector<Device>& devices, const Device& device) {
  const auto known =
      std::find_if(devices.begin(), devices.end(), [&](const Device& one) { return one.id == device.id; });
  if (known == devices.end())
    devices.push_back(device);
  else if (known->memory_bytes_per_s == 0)
    known->memory_bytes_per_s = device.memory_bytes_per_s;
}

class TraceMerger {
 public:
  void add(Trace& from) {
    NewNumbers numbers;
    numbers.correlations = correlations_;
    for (NameId i = 0; i < from.strings.size(); ++i) numbers.names.push_back(out_.strings.id(from.strings.text(i)));
    for (const auto& lane : from.gpu_lanes) numbers.gpu_lanes.push_back(out_.gpu_lane(lane));
    for (const auto& lane : from.thread_lanes) numbers.thread_lanes.push_back(out_.thread_lane(lane));
    for (auto node : from.graph_nodes) {
      node.path = numbers.names[node.path];
      out_.graph_nodes.push_back(node);
    }
    each_table(from, [&](BlockKind kind, auto& table) {
      Renumberer renumberer(numbers);
      code_columns(renumberer, table);
      if constexpr (std::is_base_of_v<Spans, std::remove_reference_t<decltype(table)>>)
        make_distinct(table.correlation, numbers.correlations);
      each_table(out_, [&](BlockKind other, auto& into) {
        if constexpr (std::is_same_v<decltype(table), decltype(into)>)
          if (kind == other) append_rows(into, table);
      });
    });
    for (const auto& [place, shape] : from.product_shapes)
      out_.product_shapes.emplace(std::pair(numbers.thread_lanes[place.first], place.second), shape);
    for (const auto& device : from.devices) add_device(out_.devices, device);
    out_.gpu_samples.insert(out_.gpu_samples.end(), from.gpu_samples.begin(), from.gpu_samples.end());
    for (auto& note : from.notes)
      if (std::find(out_.notes.begin(), out_.notes.end(), note) == out_.notes.end())
        out_.notes.push_back(std::move(note));
    out_.lacks_work = out_.lacks_work || from.lacks_work;
    out_.lacks_durations = out_.lacks_durations || from.lacks_durations;
    from = Trace();
  }
  [[nodiscard]] Trace take() { return std::move(out_); }

 private:
  /// Of numbers that no sum fits, which no profiler counts to, some may be the same as before.
  void make_distinct(std::vector<std::int64_t>& correlations, std::int64_t taken) {
    for (auto& correlation : correlations) {
      if (correlation <= 0 || correlation > std::numeric_limits<std::int64_t>::max() - taken) continue;
      correlation += taken;
      correlations_ = std::max(correlations_, correlation);
    }
  }

  Trace out_;
  std::int64_t correlations_ = 0;  ///< the highest so far
};

/// The same stream in a trace of another run, where the process has another number.
GpuLane same_stream(const Trace& trace, const GpuLane& lane) {
  const auto& all = trace.gpu_lanes;
  const auto found = std::find_if(all.begin(), all.end(), [&](const GpuLane& one) {
    return one.device == lane.device && one.stream == lane.stream;
  });
  return found == all.end() ? lane : *found;
}

}  // namespace

Trace merge_traces(std::vector<Trace> traces) {
  if (traces.size() == 1) return std::move(traces.front());
  TraceMerger merger;
  for (auto& trace : traces) merger.add(trace);
  auto out = merger.take();
  bound_values(out);  // of all together the sums are larger
  return out;
}

void add_counted(Trace& into, Trace from) {
  if (from.counted.size() == 0) return;
  Trace counted;
  counted.strings = std::move(from.strings);
  counted.counted = std::move(from.counted);
  std::vector<LaneId> lanes;  // by those of `from`
  for (const auto& lane : from.gpu_lanes) lanes.push_back(counted.gpu_lane(same_stream(into, lane)));
  for (auto& lane : counted.counted.lane) lane = lanes[lane];
  const bool of_recorder = into.of_recorder;
  std::vector<Trace> both;
  both.push_back(std::move(into));
  both.push_back(std::move(counted));
  into = merge_traces(std::move(both));
  into.of_recorder = of_recorder;
}

}  // namespace ridgeline::trace
