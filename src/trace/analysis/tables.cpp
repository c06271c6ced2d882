// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "trace/analysis/counted_launches.hpp"
#include "trace/analysis/device_time.hpp"
#include "trace/analysis/line_table.hpp"
#include "trace/analysis/memory.hpp"
#include "trace/analysis/missing.hpp"
#include "trace/analysis/module_table.hpp"
#include "trace/analysis/places.hpp"
#include "trace/analysis/program_place.hpp"
#include "trace/analysis/range_names.hpp"
#include "trace/messages.hpp"
#include "trace/node_launches.hpp"

namespace ridgeline::trace {
namespace {

using schema::ProfileKernel;

/// A row for each name, the longest in total first; equal ones by their names.
template <typename LineOf>
std::vector<ProfileKernel> by_name(const AnalysedTrace& analysed, const Spans& work, const PlacedWork& placed,
                                   LineOf line_of) {
  const auto& trace = analysed.trace;
  std::unordered_map<NameId, std::size_t> known;
  std::vector<ProfileKernel> rows;
  std::vector<std::map<Place, std::int64_t>> modules;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto [found, is_new] = known.try_emplace(work.name[i], rows.size());
    const auto line = line_of(i);
    if (is_new) {
      rows.emplace_back().name = trace.strings.text(work.name[i]);
      rows.back().line = line;
      modules.emplace_back();
    }
    auto& row = rows[found->second];
    if (row.line != line) row.line.clear();
    const auto took = work.duration_ns[i];
    row.least_ns = row.calls == 0 ? took : std::min(row.least_ns, took);
    row.most_ns = std::max(row.most_ns, took);
    row.total_ns += took;
    ++row.calls;
    if (placed.row[i] != kNowhere) modules[found->second][placed.row[i]] += took;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto most = std::max_element(modules[i].begin(), modules[i].end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != modules[i].end() && most->first != analysed.attribution.unattributed)
      rows[i].module = path_of(analysed.attribution, most->first);
  }
  return rows;
}

void sort_rows(std::vector<ProfileKernel>& rows) {
  std::sort(rows.begin(), rows.end(), [](const auto& one, const auto& other) {
    return one.total_ns != other.total_ns ? one.total_ns > other.total_ns : one.name < other.name;
  });
}

/// Of a launch or a call that took `ns`.
template <typename Row>
void add_bytes(Row& row, std::int64_t bytes, std::int64_t ns, schema::BytesSource source) {
  row.bytes = std::max<std::int64_t>(row.bytes, 0) + bytes;
  row.bytes_ns = std::max<std::int64_t>(row.bytes_ns, 0) + ns;
  row.bytes_source = merged(row.bytes_source, source);
}

std::vector<ProfileKernel> kernel_rows(const AnalysedTrace& analysed) {
  const auto& kernels = analysed.trace.kernels;
  auto rows = by_name(analysed, kernels, analysed.kernels,
                      [&](std::size_t i) { return analysed.lines.of_kernel(i, analysed.kernels.call[i]); });
  std::unordered_map<std::string_view, ProfileKernel*> known;
  for (auto& row : rows) known[row.name] = &row;
  std::unordered_map<NameId, std::pair<ProfileKernel*, std::int64_t>> longest;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    auto& [row, most] =
        longest.try_emplace(kernels.name[i], known.at(analysed.trace.strings.text(kernels.name[i])), -1).first->second;
    if (kernels.duration_ns[i] > most) {
      most = kernels.duration_ns[i];
      row->grid = {kernels.grid[i].x, kernels.grid[i].y, kernels.grid[i].z};
      row->block = {kernels.block[i].x, kernels.block[i].y, kernels.block[i].z};
      row->registers = kernels.registers[i];
      row->shared_bytes = kernels.shared_bytes[i];
    }
    if (const auto bytes = analysed.bytes_of(i); !std::isnan(bytes))
      add_bytes(*row, std::llround(bytes), kernels.duration_ns[i], analysed.bytes_source(i));
  }
  sort_rows(rows);
  return rows;
}

std::vector<ProfileKernel> copy_rows(const AnalysedTrace& analysed) {
  std::vector<ProfileKernel> out;
  const auto add = [&](const MemoryWork& work, const PlacedWork& placed) {
    auto rows = by_name(analysed, work, placed, [&](std::size_t i) { return analysed.lines.of_call(placed.call[i]); });
    std::unordered_map<std::string_view, ProfileKernel*> known;
    for (auto& row : rows) known[row.name] = &row;
    for (std::size_t i = 0; i < work.size(); ++i) {
      auto& row = *known.at(analysed.trace.strings.text(work.name[i]));
      if (work.bytes[i] >= 0) add_bytes(row, work.bytes[i], work.duration_ns[i], schema::BytesSource::recorded);
    }
    out.insert(out.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  };
  add(analysed.trace.copies, analysed.copies);
  add(analysed.trace.sets, analysed.sets);
  sort_rows(out);
  return out;
}

constexpr std::size_t kPlaces = 5;  // of idle time

std::vector<schema::ProfileIdle> idle_rows(const AnalysedTrace& analysed, const DeviceTime& of) {
  std::map<schema::IdleCause, schema::ProfileIdle> by_cause;
  std::map<schema::IdleCause, Places> places;
  for (const auto& gap : analysed.gaps) {
    if (gap.process != of.process || gap.device != of.device) continue;
    auto& row = by_cause[gap.cause];
    row.cause = gap.cause;
    row.gaps += gap.place == GapPlace::between_work ? 1 : 0;
    row.total_ns += gap.duration_ns();
    row.longest_ns = std::max(row.longest_ns, gap.duration_ns());
    const auto place = place_of_gap(analysed, gap);
    if (!place.empty()) places[gap.cause].add(place, gap.duration_ns());
  }
  std::vector<schema::ProfileIdle> rows;
  for (auto& [cause, row] : by_cause) {
    for (const auto& place : places[cause].largest(kPlaces)) row.places.emplace_back(place.place, place.amount);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return rows;
}

/// Of kernels of a device: those of communication, and all others, as measures of unions.
void read_collectives(const AnalysedTrace& analysed, schema::ProfileDevice& row) {
  Intervals collectives;
  Intervals others;
  const auto& kernels = analysed.trace.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto& lane = analysed.trace.gpu_lanes[kernels.lane[i]];
    if (lane.process != row.process || lane.device != row.device) continue;
    (analysed.is_collective[i] ? collectives : others)
        .emplace_back(kernels.start_ns[i], kernels.start_ns[i] + kernels.duration_ns[i]);
  }
  if (collectives.empty()) return;
  row.collective_ns = measure_of_union(collectives);
  const auto other_ns = measure_of_union(others);
  others.insert(others.end(), collectives.begin(), collectives.end());
  row.exposed_ns = measure_of_union(others) - other_ns;
}

void read_streams(const AnalysedTrace& analysed, schema::ProfileDevice& row) {
  std::map<std::int64_t, Intervals> streams;
  for (const Spans* work :
       {static_cast<const Spans*>(&analysed.trace.kernels), static_cast<const Spans*>(&analysed.trace.copies),
        static_cast<const Spans*>(&analysed.trace.sets)})
    for (std::size_t i = 0; i < work->size(); ++i) {
      const auto& lane = analysed.trace.gpu_lanes[work->lane[i]];
      if (lane.process == row.process && lane.device == row.device)
        streams[lane.stream].emplace_back(work->start_ns[i], work->start_ns[i] + work->duration_ns[i]);
    }
  row.streams = static_cast<std::int64_t>(streams.size());
  for (auto& [stream, busy] : streams)
    if (const auto ns = measure_of_union(busy); ns > row.critical_ns) {
      row.critical_ns = ns;
      row.critical_stream = stream;
    }
}

std::vector<schema::ProfileDevice> device_rows(const AnalysedTrace& analysed) {
  const auto& trace = analysed.trace;
  std::vector<schema::ProfileDevice> rows;
  for (const auto& time : device_times(trace)) {
    schema::ProfileDevice row;
    row.process = time.process;
    row.device = time.device;
    for (const auto& device : trace.devices)
      if (device.id == time.device) {
        row.name = device.name;
        row.multiprocessors = device.multiprocessors;
        row.memory_bytes_per_s = device.memory_bytes_per_s;
      }
    for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
      const auto& lane = trace.gpu_lanes[trace.kernels.lane[i]];
      if (lane.process != time.process || lane.device != time.device) continue;
      ++(is_graph_launch(trace.strings.text(trace.kernels.name[i])) ? row.graph_launches : row.kernels);
    }
    row.span_ns = analysed.observed.at({time.process, time.device}).span_ns();
    row.busy_ns = time.busy_ns;
    row.kernel_ns = time.kernel_ns;
    row.copy_ns = time.copy_ns;
    row.both_ns = time.both_ns;
    read_streams(analysed, row);
    read_collectives(analysed, row);
    if (!trace.lacks_durations) row.idle = idle_rows(analysed, time);  // else the GPU may have worked
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<schema::ProfileNode> node_rows(const AnalysedTrace& analysed) {
  const auto& nodes = analysed.trace.nodes;
  std::unordered_map<NameId, std::size_t> known;
  std::vector<schema::ProfileNode> rows;
  const LaunchNodes launches(analysed.trace);
  const auto text = [&](NameId id) { return std::string(analysed.trace.strings.text(id)); };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (analysed.is_unusual(i)) continue;
    const auto [found, is_new] = known.try_emplace(nodes.name[i], rows.size());
    if (is_new)
      rows.push_back({text(nodes.name[i]), text(nodes.operation[i]), text(nodes.provider[i]),
                      path_of(analysed.attribution, analysed.attribution.row_of_node[i])});
    auto& row = rows[found->second];
    ++row.calls;
    row.total_ns += analysed.nodes.own_ns[i];
    if (launches.contains(i) || analysed.nodes.has_parts[i]) continue;
    if (const auto bytes = nodes.bytes(i); bytes >= 0)
      add_bytes(row, bytes, analysed.nodes.own_ns[i], schema::BytesSource::shapes);
    if (nodes.flops[i] >= 0) row.flops = std::max<std::int64_t>(row.flops, 0) + nodes.flops[i];
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return rows;
}

std::vector<schema::ProfileOperator> operator_rows(const Trace& trace) {
  std::unordered_map<NameId, std::size_t> known;
  std::vector<schema::ProfileOperator> rows;
  const auto& ranges = trace.ranges;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges.kind[i] != RangeKind::operation) continue;
    const auto [found, is_new] = known.try_emplace(ranges.name[i], rows.size());
    if (is_new) rows.push_back({std::string(trace.strings.text(ranges.name[i])), 0, 0});
    ++rows[found->second].calls;
    rows[found->second].host_ns += ranges.duration_ns[i];
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.host_ns > b.host_ns; });
  return rows;
}

std::vector<schema::ProfileStep> step_rows(const AnalysedTrace& analysed) {
  const auto& trace = analysed.trace;
  std::vector<schema::ProfileStep> rows;
  for (const auto& step : analysed.steps.steps) {
    const bool left_out = analysed.unusual_runs[rows.size()];
    rows.push_back({std::string(trace.strings.text(trace.ranges.name[step.range])), step.start_ns,
                    step.end_ns - step.start_ns, 0, 0, left_out});
  }
  const auto add = [&](const Spans& work, const PlacedWork& placed, bool kernels) {
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (placed.step[i] == kNowhere) continue;
      rows[placed.step[i]].work_ns += work.duration_ns[i];
      rows[placed.step[i]].kernels += kernels && !is_graph_launch(trace.strings.text(work.name[i])) ? 1 : 0;
    }
  };
  add(trace.kernels, analysed.kernels, true);
  add(trace.copies, analysed.copies, false);
  add(trace.sets, analysed.sets, false);
  for (std::size_t i = 0; i < trace.nodes.size() && trace.kernels.size() == 0; ++i)
    if (const auto step = analysed.step_of_node[i]; step != kNowhere) rows[step].work_ns += analysed.nodes.own_ns[i];
  return rows;
}

/// A row for each source, the one of the most time first.
std::vector<schema::ProfileBytes> bytes_rows(const AnalysedTrace& analysed) {
  std::map<schema::BytesSource, schema::ProfileBytes> by_source;
  for (std::size_t i = 0; i < analysed.trace.kernels.size(); ++i) {
    if (std::isnan(analysed.bytes_of(i))) continue;
    const auto source = analysed.bytes_source(i);
    auto& row = by_source[source];
    row.source = source;
    ++row.launches;
    row.kernel_ns += analysed.trace.kernels.duration_ns[i];
    const auto step = analysed.kernel_bytes_step.empty() ? 0 : analysed.kernel_bytes_step[i];
    if (step > 0) row.first_step = row.first_step == 0 ? step : std::min(row.first_step, step);
    row.last_step = std::max(row.last_step, step);
  }
  std::vector<schema::ProfileBytes> out;
  for (const auto& [source, row] : by_source) out.push_back(row);
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& one, const auto& other) { return one.kernel_ns > other.kernel_ns; });
  return out;
}

std::int64_t span_of(const Trace& trace) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  const auto see = [&](const Spans& spans) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      first = std::min(first, spans.start_ns[i]);
      last = std::max(last, spans.start_ns[i] + spans.duration_ns[i]);
    }
  };
  for (const Spans* work : {static_cast<const Spans*>(&trace.kernels), static_cast<const Spans*>(&trace.copies),
                            static_cast<const Spans*>(&trace.sets), static_cast<const Spans*>(&trace.nodes)})
    see(*work);
  if (trace.is_of_host()) see(trace.ranges);
  return last > first ? last - first : 0;
}

}  // namespace

schema::ProfileTables tables_of(const AnalysedTrace& analysed) {
  schema::ProfileTables out;
  out.devices = device_rows(analysed);
  out.kernels = kernel_rows(analysed);
  out.copies = copy_rows(analysed);
  out.nodes = node_rows(analysed);
  out.operators = operator_rows(analysed.trace);
  out.modules = module_rows(analysed);
  out.step_name = analysed.steps.name;
  out.steps = step_rows(analysed);
  out.bytes = bytes_rows(analysed);
  out.lines = line_rows(analysed);
  out.graphs = counted_graphs(analysed.trace);
  out.memory = memory_rows(analysed);
  out.span_ns = span_of(analysed.trace);
  if (!out.nodes.empty() && out.devices.empty())
    out.runs = std::max<std::int64_t>(1, std::count(analysed.unusual_runs.begin(), analysed.unusual_runs.end(), false));
  out.missing = missing_in(analysed);
  return out;
}

}  // namespace ridgeline::trace
