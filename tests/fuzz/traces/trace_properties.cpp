// SPDX-License-Identifier: Apache-2.0
#include "fuzz/traces/trace_properties.hpp"

#include <cmath>

#include "trace/analysis/analysed_trace.hpp"
#include "trace/analysis/counter_join.hpp"
#include "trace/analysis/counter_table.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/file/trace_reader.hpp"
#include "trace/file/trace_writer.hpp"
#include "trace/findings/find_savings.hpp"
#include "trace/import/kineto_import.hpp"
#include "trace/import/ncu_import.hpp"
#include "trace/import/nsys_import.hpp"
#include "trace/import/onnxruntime_import.hpp"
#include "trace/import/snapshot_import.hpp"
#include "tracefile/table_columns.hpp"

namespace ridgeline::fuzz {
namespace {

using trace::Trace;

/// What holds for the columns of a table.
class ColumnCheck {
 public:
  ColumnCheck(const Trace& trace, std::size_t rows) : trace_(trace), rows_(rows) {}
  template <typename Number>
  void deltas(const std::vector<Number>& column) {
    numbers(column);
  }
  void durations(const std::vector<std::int64_t>& column, const std::vector<std::int64_t>&) {
    numbers(column);
    for (const auto value : column)
      if (value < 0) broken = "a negative duration";
  }
  void names(const std::vector<trace::NameId>& column) { indices(column, trace_.strings.size()); }
  template <bool kOfGpu>
  void lanes(const std::vector<trace::LaneId>& column) {
    indices(column, kOfGpu ? trace_.gpu_lanes.size() : trace_.thread_lanes.size());
  }
  template <typename Kind>
  void kinds(const std::vector<Kind>& column) {
    numbers(column);
  }
  void extents(const std::vector<trace::Dim3>& column) { numbers(column); }
  template <typename Number>
  void numbers(const std::vector<Number>& column) {
    if (column.size() != rows_) broken = "columns of different lengths";
  }
  std::string broken;

 private:
  void indices(const std::vector<std::uint32_t>& column, std::size_t limit) {
    numbers(column);
    for (const auto value : column)
      if (value >= limit) broken = "a name or a lane that is not there";
  }
  const Trace& trace_;
  std::size_t rows_;
};

std::string broken_column(const Trace& trace) {
  std::string broken;
  trace::each_table(trace, [&](trace::BlockKind, const auto& table) {
    ColumnCheck check(trace, table.size());
    trace::code_columns(check, table);
    if (!check.broken.empty()) broken = check.broken;
  });
  return broken;
}

std::string broken_memory(const schema::ProfileMemory& memory) {
  if (memory.peak_allocated_bytes < memory.end_bytes || memory.end_bytes < 0) return "less than nothing allocated";
  if (memory.peak_ns < 0) return "a peak before the recording";
  for (std::size_t i = 1; i < memory.series.size(); ++i)
    if (memory.series[i].time_ns < memory.series[i - 1].time_ns) return "memory that goes back in time";
  return "";
}

std::string broken_finding(const trace::AnalysedTrace& analysed, const schema::ProfileTables& tables) {
  for (const auto& finding : trace::find_savings(analysed, tables))
    if (finding.saving_ns < 0) return "a negative saving: " + finding.rule();
  for (const auto& device : tables.devices)
    if (device.busy_ns > device.span_ns) return "a GPU that is busy longer than it is looked at";
  for (const auto& memory : tables.memory)
    if (auto broken = broken_memory(memory); !broken.empty()) return broken;
  return "";
}

std::string broken_analysis(const Trace& trace) {
  if (auto broken = broken_column(trace); !broken.empty()) return broken;
  const trace::AnalysedTrace analysed(trace);
  return broken_finding(analysed, trace::tables_of(analysed));
}

std::string broken_file(const Trace& trace, const std::string& path) {
  if (const auto written = trace::write_trace_file(trace, path); !written) return written.error().message;
  const auto back = trace::read_trace_file(path);
  if (!back) return "what was written is not read: " + back.error().message;
  return back->notes == trace.notes ? "" : "what was read has other notes than what was written";
}

std::string broken_error(const base::Error& error) {
  if (error.code == base::ErrorCode::internal) return "an internal error: " + error.message;
  const auto line = base::error_line(error);
  return line.find('\n') == std::string::npos ? "" : "an error of several lines: " + line;
}

}  // namespace

FileVerdict look_at(const std::string& path, trace::FileKind kind, const std::string& again,
                    trace::AnalysedTrace& companion) {
  if (kind == trace::FileKind::ncu) {
    const auto counters = trace::import_ncu(path);
    if (!counters) return {broken_error(counters.error())};
    for (const auto& metric : counters->metrics)
      if (metric.values.size() != counters->size()) return {"a metric with another number of rows", true};
    const auto& launched = companion.trace;
    const auto join = trace::join_counters(launched, *counters);
    if (join.row.size() != launched.kernels.size()) return {"a join of another size", true};
    companion.kernel_bytes = trace::dram_bytes(*counters, join);
    companion.kernel_waves = trace::launch_waves(*counters, join);
    auto tables = trace::tables_of(companion);
    trace::add_counters(launched, *counters, join, tables.kernels);
    for (const auto& kernel : tables.kernels)
      for (const auto& counter : kernel.counters)
        if (!(counter.least <= counter.most && std::isfinite(counter.sum))) return {"a counter without a range", true};
    return {broken_finding(companion, tables), true};
  }
  const auto trace = kind == trace::FileKind::kineto        ? trace::import_kineto(path)
                     : kind == trace::FileKind::onnxruntime ? trace::import_onnxruntime(path)
                     : kind == trace::FileKind::nsys        ? trace::import_nsys(path)
                     : kind == trace::FileKind::snapshot    ? trace::import_snapshot(path)
                                                            : trace::read_trace_file(path);
  if (!trace) return {broken_error(trace.error())};
  auto broken = broken_analysis(*trace);
  if (broken.empty() && !again.empty()) broken = broken_file(*trace, again);
  return {broken, true};
}

}  // namespace ridgeline::fuzz
