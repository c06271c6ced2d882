// SPDX-License-Identifier: Apache-2.0
#include "trace/import/nsys_import.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/ranges.h>

#include "trace/analysis/range_names.hpp"
#include "trace/import/implausible_records.hpp"
#include "trace/import/nsys_tables.hpp"
#include "trace/import/sqlite_table.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::string_view kRecordWithNsys =
    "record with nsys profile --trace=cuda,nvtx, then nsys export --type sqlite FILE.nsys-rep";
constexpr std::string_view kUnnamedRange = "(unnamed range)";
constexpr std::string_view kUnnamedKernel = "(unnamed kernel)";
constexpr std::int64_t kPushPop = 59;  // NVTX_EVENTS.eventType
constexpr std::int64_t kStartEnd = 60;

using Names = std::array<std::pair<std::int64_t, std::string_view>, 8>;
/// CUpti_ActivityMemcpyKind.
constexpr Names kCopies{{{1, "Memcpy HtoD"},
                         {2, "Memcpy DtoH"},
                         {3, "Memcpy HtoA"},
                         {4, "Memcpy AtoH"},
                         {8, "Memcpy DtoD"},
                         {9, "Memcpy HtoH"},
                         {10, "Memcpy PtoP"},
                         {0, "Memcpy"}}};
/// CUpti_ActivitySynchronizationType.
constexpr Names kSyncs{{{1, "Event Sync"},
                        {2, "Stream Wait Event"},
                        {3, "Stream Sync"},
                        {4, "Context Sync"},
                        {0, "Sync"},
                        {0, ""},
                        {0, ""},
                        {0, ""}}};

/// ENUM_CUDA_MEM_KIND.
constexpr std::array<std::string_view, 5> kMemoryKinds{"Pageable", "Pinned", "Device", "Array", "Managed"};

/// "Memcpy HtoD (Pageable -> Device)", as the PyTorch profiler has it; the bare kind where the file does not tell more.
std::string copy_name(std::string_view copy, std::optional<std::int64_t> from, std::optional<std::int64_t> to) {
  const auto known = [](const auto& kind) {
    return kind && *kind >= 0 && *kind < static_cast<std::int64_t>(kMemoryKinds.size());
  };
  if (!known(from) || !known(to)) return std::string(copy);
  return fmt::format("{} ({} -> {})", copy, kMemoryKinds[static_cast<std::size_t>(*from)],
                     kMemoryKinds[static_cast<std::size_t>(*to)]);
}

std::string_view name_in(const Names& names, std::int64_t number, std::string_view other) {
  for (const auto& [one, name] : names)
    if (one == number && number != 0) return name;
  return other;
}

/// globalTid and globalPid: the process in bits 24 to 47, the thread below.
std::int64_t process_of(std::int64_t global) { return (global >> 24) & 0xFFFFFF; }
ThreadLane thread_of(std::int64_t global) { return {process_of(global), global & 0xFFFFFF}; }

/// A range of torch.autograd.profiler.emit_nvtx: "aten::mul, seq = 45328, op_id = 990726, sizes = [...]".
struct EmittedOperation {
  std::string_view name;
  std::int64_t sequence = -1;
};
std::optional<EmittedOperation> emitted_operation(std::string_view text) {
  constexpr std::string_view kSequence = ", seq = ";
  const auto sequence = text.find(kSequence);
  const auto end = std::min(sequence, std::min(text.find(", op_id = "), text.find(", sizes = ")));
  if (end == std::string_view::npos) return std::nullopt;
  EmittedOperation out{text.substr(0, end)};
  if (sequence != std::string_view::npos) {
    const auto digits = text.substr(sequence + kSequence.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), out.sequence);
  }
  return out;
}

std::int32_t small(std::int64_t number) {
  return number > std::numeric_limits<std::int32_t>::max() || number < std::numeric_limits<std::int32_t>::min()
             ? 0
             : static_cast<std::int32_t>(number);
}

/// What tables that were read before one already have.
class EarlierTables {
 public:
  using Row = std::tuple<std::int64_t, std::int64_t, NameId, LaneId, std::int64_t>;
  /// The first call is before anything of the later table is added.
  bool contains(const Spans& spans, const Row& row) {
    if (!is_read_)
      for (std::size_t i = 0; i < spans.size(); ++i)
        rows_.emplace(spans.start_ns[i], spans.duration_ns[i], spans.name[i], spans.lane[i], spans.correlation[i]);
    is_read_ = true;
    return rows_.count(row) > 0;
  }

 private:
  std::set<Row> rows_;
  bool is_read_ = false;
};

class NsysReader {
 public:
  NsysReader(const SqliteFile& file, NsysTables& tables, Trace& trace) : file_(file), tables_(tables), trace_(trace) {}

  Result<void> read() {
    RL_TRY(read_strings());
    RL_TRY(read_devices());
    RL_TRY(read_kernels());
    RL_TRY(read_graphs());
    RL_TRY(read_memory_work("CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind", trace_.copies));
    RL_TRY(read_memory_work("CUPTI_ACTIVITY_KIND_MEMSET", "", trace_.sets));
    RL_TRY(read_syncs());
    RL_TRY(read_calls());
    RL_TRY(read_ranges());
    for (const auto* table : {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"}) RL_TRY(read_overheads(table));
    adopt_work();
    if (!without_times_.empty()) trace_.notes.push_back(messages::rows_without_times(messages_of(without_times_)));
    if (!reversed_.empty()) trace_.notes.push_back(messages::rows_reversed(messages_of(reversed_)));
    if (unnamed_ranges_ > 0)
      trace_.notes.push_back(messages::unnamed_ranges(
          {.name = std::string(kUnnamedRange), .count = static_cast<std::int64_t>(unnamed_ranges_)}));
    return {};
  }

 private:
  using LeftOut = std::vector<std::pair<std::string, std::int64_t>>;  ///< rows by table

  static std::vector<schema::Message> messages_of(const LeftOut& rows) {
    std::vector<schema::Message> out;
    for (const auto& [table, count] : rows) out.push_back(messages::rows_of_table({.count = count, .table = table}));
    return out;
  }
  void count(LeftOut& rows) const {
    if (rows.empty() || rows.back().first != table_) rows.emplace_back(table_, 0);
    ++rows.back().second;
  }

  /// Calls `read` for each row of every version of these tables, which have the same columns.
  template <typename Read>
  Result<void> each_row(const std::vector<std::string>& bases, const std::vector<std::string>& columns, Read read) {
    earlier_.reset();
    bool is_first = true;
    for (const auto& base : bases) {
      RL_TRY_ASSIGN(const auto tables, tables_.versions(base));
      for (const auto& table : tables) {
        table_ = table;
        if (!std::exchange(is_first, false)) earlier_.emplace();
        RL_TRY_ASSIGN(auto rows, SqliteRows::of(file_, table, columns));
        for (;;) {
          RL_TRY_ASSIGN(const bool more, rows.next());
          if (!more) break;
          read(rows);
        }
      }
    }
    return {};
  }

  /// The first two columns of every query: start and end. Adds the span if they are its times, and no earlier version
  /// of the table has it.
  template <typename Name, typename Lane>
  bool put(Spans& spans, const SqliteRows& row, Name name, Lane lane, std::int64_t correlation) {
    const auto start = row.integer(0);
    const auto end = row.integer(1);
    if (!start || !end) {
      count(without_times_);
      return false;
    }
    // The difference of hostile times may not fit.
    if (*end < *start || (*start < 0 && *end >= 0 && *end > std::numeric_limits<std::int64_t>::max() + *start)) {
      count(reversed_);
      return false;
    }
    const EarlierTables::Row added{*start, *end - *start, name(), lane(), correlation};
    if (earlier_ && earlier_->contains(spans, added)) return false;
    std::apply([&](auto... values) { spans.add(values...); }, added);
    return true;
  }

  /// Work that names no process is that of the only one there is.
  void adopt_work() {
    std::set<std::int64_t> processes;
    for (const auto& lane : trace_.gpu_lanes) processes.insert(lane.process);
    if (processes.size() == 2 && *processes.begin() == 0) trace_.give_process(*processes.rbegin());
  }

  [[nodiscard]] NameId string(const std::optional<std::int64_t>& id) const {
    if (!id) return 0;
    const auto found = strings_.find(*id);
    return found == strings_.end() ? 0 : found->second;
  }

  /// Columns from `at` on: deviceId, contextId, streamId, globalPid.
  [[nodiscard]] LaneId gpu_lane(const SqliteRows& row, int at) {
    return trace_.gpu_lane({process_of(row.integer_or(at + 3, 0)), small(row.integer_or(at, 0)),
                            row.integer_or(at + 1, 0), row.integer_or(at + 2, 0)});
  }

  Result<void> read_strings() {
    return each_row({"StringIds"}, {"id", "value"}, [&](const SqliteRows& rows) {
      if (const auto id = rows.integer(0)) strings_.try_emplace(*id, trace_.strings.id(rows.text(1)));
    });
  }

  Result<void> read_devices() {
    return each_row({"TARGET_INFO_GPU"}, {"id", "name", "smCount", "smMajor", "smMinor", "memoryBandwidth"},
                    [&](const SqliteRows& rows) {
                      Device device;
                      device.id = small(rows.integer_or(0, 0));
                      if (std::any_of(trace_.devices.begin(), trace_.devices.end(),
                                      [&](const auto& other) { return other.id == device.id; }))
                        return;
                      device.name = rows.text(1);
                      device.multiprocessors = small(rows.integer_or(2, 0));
                      if (const auto major = rows.integer(3))
                        device.compute_capability = fmt::format("{}.{}", *major, rows.integer_or(4, 0));
                      device.memory_bytes_per_s = std::max<std::int64_t>(0, rows.integer_or(5, 0));
                      trace_.devices.push_back(std::move(device));
                    });
  }

  Result<void> read_kernels() {
    auto& kernels = trace_.kernels;
    return each_row({"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"},
                    {"start",
                     "end",
                     "deviceId",
                     "contextId",
                     "streamId",
                     "globalPid",
                     "correlationId",
                     "demangledName",
                     "shortName",
                     "mangledName",
                     "gridX",
                     "gridY",
                     "gridZ",
                     "blockX",
                     "blockY",
                     "blockZ",
                     "registersPerThread",
                     "staticSharedMemory",
                     "dynamicSharedMemory",
                     "graphNodeId"},
                    [&](const SqliteRows& rows) {
                      const auto name = [&] {
                        for (const int column : {7, 8, 9})
                          if (const auto found = string(rows.integer(column)); found != 0) return found;
                        return trace_.strings.id(kUnnamedKernel);
                      };
                      if (!put(
                              kernels, rows, name, [&] { return gpu_lane(rows, 2); }, rows.integer_or(6, 0)))
                        return;
                      const auto number = [&](int column) { return small(rows.integer_or(column, 0)); };
                      kernels.grid.push_back({number(10), number(11), number(12)});
                      kernels.block.push_back({number(13), number(14), number(15)});
                      kernels.registers.push_back(number(16));
                      kernels.shared_bytes.push_back(small(std::int64_t{number(17)} + number(18)));
                      kernels.graph_node.push_back(static_cast<std::uint64_t>(rows.integer_or(19, 0)));
                    });
  }

  /// Graphs as a whole, unless their kernels were recorded too.
  Result<void> read_graphs() {
    auto& kernels = trace_.kernels;
    std::set<std::pair<std::int64_t, std::int64_t>> launched;  // by process and correlation
    const auto process_of_kernel = [&](std::size_t i) { return trace_.gpu_lanes[kernels.lane[i]].process; };
    const auto before = kernels.size();
    RL_TRY(each_row({"CUPTI_ACTIVITY_KIND_GRAPH_TRACE"},
                    {"start", "end", "deviceId", "contextId", "streamId", "globalPid", "correlationId", "graphId"},
                    [&](const SqliteRows& rows) {
                      const auto correlation = rows.integer_or(6, 0);
                      if (launched.empty())
                        for (std::size_t i = 0; i < before; ++i)
                          launched.emplace(process_of_kernel(i), kernels.correlation[i]);
                      if (correlation != 0 && launched.count({process_of(rows.integer_or(5, 0)), correlation}) > 0)
                        return;
                      const auto graph = rows.integer(7);
                      const auto name = [&] {
                        return trace_.strings.id(graph ? fmt::format("{} {}", kGraphLaunch, *graph)
                                                       : std::string(kGraphLaunch));
                      };
                      if (!put(
                              kernels, rows, name, [&] { return gpu_lane(rows, 2); }, correlation))
                        return;
                      kernels.grid.emplace_back();
                      kernels.block.emplace_back();
                      kernels.registers.push_back(0);
                      kernels.shared_bytes.push_back(0);
                      kernels.graph_node.push_back(0);
                    }));
    return {};
  }

  Result<void> read_memory_work(const std::string& table, const std::string& kind, MemoryWork& work) {
    return each_row({table},
                    {"start", "end", "deviceId", "contextId", "streamId", "globalPid", "correlationId", "bytes",
                     kind.empty() ? "end" : kind, kind.empty() ? "end" : "srcKind", kind.empty() ? "end" : "dstKind"},
                    [&](const SqliteRows& rows) {
                      const auto name = [&] {
                        if (kind.empty()) return trace_.strings.id("Memset");
                        return trace_.strings.id(copy_name(name_in(kCopies, rows.integer_or(8, 0), "Memcpy"),
                                                           rows.integer(9), rows.integer(10)));
                      };
                      if (put(
                              work, rows, name, [&] { return gpu_lane(rows, 2); }, rows.integer_or(6, 0)))
                        work.bytes.push_back(rows.integer_or(7, -1));
                    });
  }

  Result<void> read_syncs() {
    return each_row({"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"},
                    {"start", "end", "deviceId", "contextId", "streamId", "globalPid", "correlationId", "syncType"},
                    [&](const SqliteRows& rows) {
                      const auto name = [&] {
                        return trace_.strings.id(name_in(kSyncs, rows.integer_or(7, 0), "Sync"));
                      };
                      (void)put(
                          trace_.syncs, rows, name, [&] { return gpu_lane(rows, 2); }, rows.integer_or(6, 0));
                    });
  }

  Result<void> read_calls() {
    return each_row({"CUPTI_ACTIVITY_KIND_RUNTIME"}, {"start", "end", "globalTid", "correlationId", "nameId"},
                    [&](const SqliteRows& rows) {
                      (void)put(
                          trace_.calls, rows, [&] { return string(rows.integer(4)); },
                          [&] { return thread_lane(rows); }, rows.integer_or(3, 0));
                    });
  }

  Result<void> read_ranges() {
    return each_row(
        {"NVTX_EVENTS"}, {"start", "end", "globalTid", "eventType", "text", "textId"}, [&](const SqliteRows& rows) {
          const auto type = rows.integer_or(3, kPushPop);
          if (type != kPushPop && type != kStartEnd) return;
          const auto own = rows.text(4);
          const auto text = own.empty() ? trace_.strings.text(string(rows.integer(5))) : own;
          if (text.empty())
            unnamed_ranges_ += add_range(
                                   rows, [&] { return trace_.strings.id(kUnnamedRange); }, RangeKind::annotation)
                                   ? 1
                                   : 0;
          else if (const auto operation = emitted_operation(text))
            add_range(
                rows, [&] { return trace_.strings.id(operation->name); }, RangeKind::operation, operation->sequence);
          else
            add_range(
                rows, [&] { return trace_.strings.id(text); }, RangeKind::annotation);
        });
  }

  Result<void> read_overheads(const std::string& table) {
    return each_row({table}, {"start", "end", "globalTid", "nameId"}, [&](const SqliteRows& rows) {
      add_range(
          rows, [&] { return string(rows.integer(3)); }, RangeKind::overhead);
    });
  }

  template <typename Name>
  bool add_range(const SqliteRows& rows, Name name, RangeKind kind, std::int64_t sequence = -1) {
    auto& ranges = trace_.ranges;
    if (!put(
            ranges, rows, name, [&] { return thread_lane(rows); }, 0))
      return false;
    ranges.kind.push_back(kind);
    ranges.sequence.push_back(sequence);
    ranges.forward_thread.push_back(0);
    return true;
  }

  /// Column 2: globalTid.
  [[nodiscard]] LaneId thread_lane(const SqliteRows& row) {
    return trace_.thread_lane(thread_of(row.integer_or(2, 0)));
  }

  const SqliteFile& file_;
  NsysTables& tables_;
  Trace& trace_;
  std::string table_;                     ///< that is being read
  std::optional<EarlierTables> earlier_;  ///< of it: versions and tables of the same kind
  LeftOut without_times_;
  LeftOut reversed_;
  std::size_t unnamed_ranges_ = 0;
  std::unordered_map<std::int64_t, NameId> strings_;
};

/// Of what is left of them; empty without any.
schema::Message whole_graphs_note(const Trace& trace) {
  const auto& kernels = trace.kernels;
  std::int64_t count = 0;
  double taken_ns = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!is_graph_launch(trace.strings.text(kernels.name[i]))) continue;
    ++count;
    taken_ns += static_cast<double>(kernels.duration_ns[i]);
  }
  return count == 0 ? schema::Message() : messages::whole_graphs({.count = count, .time = taken_ns});
}

}  // namespace

Result<Trace> import_nsys(const std::string& path) {
  RL_TRY_ASSIGN(const auto file, SqliteFile::open(path));
  const bool is_nsys = file.has_table("META_DATA_EXPORT") || file.has_table("EXPORT_META_DATA") ||
                       file.has_table("StringIds") || file.has_table("CUPTI_ACTIVITY_KIND_KERNEL");
  if (!is_nsys)
    return base::fail(ErrorCode::unsupported, "{}: no tables of Nsight Systems", path)
        .hint("nsys export --type sqlite FILE.nsys-rep makes such a file");
  Trace trace;
  RL_TRY_ASSIGN(auto tables, NsysTables::of(file));
  RL_TRY(NsysReader(file, tables, trace).read());
  RL_TRY_ASSIGN(const auto unread, tables.unread());
  if (trace.kernels.size() == 0)
    return base::fail(
               ErrorCode::unsupported, "{}: no kernels{}", path,
               unread.empty() ? "" : fmt::format(" in the tables that are read; not read: {}", fmt::join(unread, ", ")))
        .hint("{}", kRecordWithNsys);
  trace.lacks_work = !unread.empty();
  if (trace.lacks_work) {
    trace.notes.push_back(messages::unread_tables(unread));
    trace.notes.push_back(messages::lacks_work());
  }
  leave_out_implausible(trace);
  if (auto note = whole_graphs_note(trace); !note.empty()) trace.notes.insert(trace.notes.begin(), std::move(note));
  return trace;
}

}  // namespace ridgeline::trace
