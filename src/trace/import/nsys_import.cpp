// SPDX-License-Identifier: Apache-2.0
#include "trace/import/nsys_import.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <utility>

#include "trace/import/bound_values.hpp"
#include "trace/import/sqlite_table.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::string_view kRecordWithNsys =
    "record with nsys profile --trace=cuda,nvtx, then nsys export --type sqlite FILE.nsys-rep";
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

class NsysReader {
 public:
  NsysReader(const SqliteFile& file, Trace& trace) : file_(file), trace_(trace) {}

  Result<void> read() {
    RL_TRY(read_strings());
    RL_TRY(read_devices());
    RL_TRY(read_kernels());
    RL_TRY(read_memory_work("CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind", trace_.copies));
    RL_TRY(read_memory_work("CUPTI_ACTIVITY_KIND_MEMSET", "", trace_.sets));
    RL_TRY(read_syncs());
    RL_TRY(read_calls());
    RL_TRY(read_ranges());
    for (const auto* table : {"PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD"}) RL_TRY(read_overheads(table));
    return {};
  }

 private:
  /// The first two columns of every query: start and end. Adds the span if it has both.
  template <typename Name, typename Lane>
  bool put(Spans& spans, const SqliteRows& row, Name name, Lane lane, std::int64_t correlation) {
    const auto start = row.integer(0);
    const auto end = row.integer(1);
    if (!start || !end) return false;
    // The difference of hostile times may not fit.
    const bool sane =
        *end >= *start && (*start >= 0 || *end < 0 || *end <= std::numeric_limits<std::int64_t>::max() + *start);
    spans.add(*start, sane ? *end - *start : 0, name(), lane(), correlation);
    return true;
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
    RL_TRY_ASSIGN(auto rows, SqliteRows::of(file_, "StringIds", {"id", "value"}));
    for (;;) {
      RL_TRY_ASSIGN(const bool more, rows.next());
      if (!more) return {};
      if (const auto id = rows.integer(0)) strings_[*id] = trace_.strings.id(rows.text(1));
    }
  }

  Result<void> read_devices() {
    RL_TRY_ASSIGN(auto rows, SqliteRows::of(file_, "TARGET_INFO_GPU", {"id", "name", "smCount", "smMajor", "smMinor"}));
    for (;;) {
      RL_TRY_ASSIGN(const bool more, rows.next());
      if (!more) return {};
      Device device;
      device.id = small(rows.integer_or(0, 0));
      device.name = rows.text(1);
      device.multiprocessors = small(rows.integer_or(2, 0));
      if (const auto major = rows.integer(3))
        device.compute_capability = fmt::format("{}.{}", *major, rows.integer_or(4, 0));
      trace_.devices.push_back(std::move(device));
    }
  }

  Result<void> read_kernels() {
    RL_TRY_ASSIGN(auto rows, SqliteRows::of(file_, "CUPTI_ACTIVITY_KIND_KERNEL",
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
                                             "graphNodeId"}));
    auto& kernels = trace_.kernels;
    for (;;) {
      RL_TRY_ASSIGN(const bool more, rows.next());
      if (!more) return {};
      const auto name = [&] {
        for (const int column : {7, 8, 9})
          if (const auto found = string(rows.integer(column)); found != 0) return found;
        return NameId{0};
      };
      if (!put(
              kernels, rows, name, [&] { return gpu_lane(rows, 2); }, rows.integer_or(6, 0)))
        continue;
      const auto number = [&](int column) { return small(rows.integer_or(column, 0)); };
      kernels.grid.push_back({number(10), number(11), number(12)});
      kernels.block.push_back({number(13), number(14), number(15)});
      kernels.registers.push_back(number(16));
      kernels.shared_bytes.push_back(small(std::int64_t{number(17)} + number(18)));
      kernels.graph_node.push_back(static_cast<std::uint64_t>(rows.integer_or(19, 0)));
    }
  }

  Result<void> read_memory_work(const std::string& table, const std::string& kind, MemoryWork& work) {
    RL_TRY_ASSIGN(auto rows, SqliteRows::of(file_, table,
                                            {"start", "end", "deviceId", "contextId", "streamId", "globalPid",
                                             "correlationId", "bytes", kind.empty() ? "end" : kind,
                                             kind.empty() ? "end" : "srcKind", kind.empty() ? "end" : "dstKind"}));
    for (;;) {
      RL_TRY_ASSIGN(const bool more, rows.next());
      if (!more) return {};
      const auto name = [&] {
        if (kind.empty()) return trace_.strings.id("Memset");
        return trace_.strings.id(
            copy_name(name_in(kCopies, rows.integer_or(8, 0), "Memcpy"), rows.integer(9), rows.integer(10)));
      };
      if (put(
              work, rows, name, [&] { return gpu_lane(rows, 2); }, rows.integer_or(6, 0)))
        work.bytes.push_back(rows.integer_or(7, -1));
    }
  }

  Result<void> read_syncs() {
    RL_TRY_ASSIGN(auto rows, SqliteRows::of(file_, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                            {"start", "end", "deviceId", "contextId", "streamId", "globalPid",
                                             "correlationId", "syncType"}));
    for (;;) {
      RL_TRY_ASSIGN(const bool more, rows.next());
      if (!more) return {};
      const auto name = [&] { return trace_.strings.id(name_in(kSyncs, rows.integer_or(7, 0), "Sync")); };
      (void)put(
          trace_.syncs, rows, name, [&] { return gpu_lane(rows, 2); }, rows.integer_or(6, 0));
    }
  }

  Result<void> read_calls() {
    RL_TRY_ASSIGN(auto rows, SqliteRows::of(file_, "CUPTI_ACTIVITY_KIND_RUNTIME",
                                            {"start", "end", "globalTid", "correlationId", "nameId"}));
    for (;;) {
      RL_TRY_ASSIGN(const bool more, rows.next());
      if (!more) return {};
      (void)put(
          trace_.calls, rows, [&] { return string(rows.integer(4)); }, [&] { return thread_lane(rows); },
          rows.integer_or(3, 0));
    }
  }

  Result<void> read_ranges() {
    RL_TRY_ASSIGN(auto rows,
                  SqliteRows::of(file_, "NVTX_EVENTS", {"start", "end", "globalTid", "eventType", "text", "textId"}));
    for (;;) {
      RL_TRY_ASSIGN(const bool more, rows.next());
      if (!more) return {};
      const auto type = rows.integer_or(3, kPushPop);
      if (type != kPushPop && type != kStartEnd) continue;
      const auto own = rows.text(4);
      const auto text = own.empty() ? trace_.strings.text(string(rows.integer(5))) : own;
      if (const auto operation = emitted_operation(text))
        add_range(
            rows, [&] { return trace_.strings.id(operation->name); }, RangeKind::operation, operation->sequence);
      else
        add_range(
            rows, [&] { return trace_.strings.id(text); }, RangeKind::annotation);
    }
  }

  Result<void> read_overheads(const std::string& table) {
    RL_TRY_ASSIGN(auto rows, SqliteRows::of(file_, table, {"start", "end", "globalTid", "nameId"}));
    for (;;) {
      RL_TRY_ASSIGN(const bool more, rows.next());
      if (!more) return {};
      add_range(
          rows, [&] { return string(rows.integer(3)); }, RangeKind::overhead);
    }
  }

  template <typename Name>
  void add_range(const SqliteRows& rows, Name name, RangeKind kind, std::int64_t sequence = -1) {
    auto& ranges = trace_.ranges;
    if (!put(
            ranges, rows, name, [&] { return thread_lane(rows); }, 0))
      return;
    ranges.kind.push_back(kind);
    ranges.sequence.push_back(sequence);
    ranges.forward_thread.push_back(0);
  }

  /// Column 2: globalTid.
  [[nodiscard]] LaneId thread_lane(const SqliteRows& row) {
    return trace_.thread_lane(thread_of(row.integer_or(2, 0)));
  }

  const SqliteFile& file_;
  Trace& trace_;
  std::unordered_map<std::int64_t, NameId> strings_;
};

}  // namespace

Result<Trace> import_nsys(const std::string& path) {
  RL_TRY_ASSIGN(const auto file, SqliteFile::open(path));
  const bool is_nsys = file.has_table("META_DATA_EXPORT") || file.has_table("EXPORT_META_DATA") ||
                       file.has_table("StringIds") || file.has_table("CUPTI_ACTIVITY_KIND_KERNEL");
  if (!is_nsys)
    return base::fail(ErrorCode::unsupported, "{}: no tables of Nsight Systems", path)
        .hint("nsys export --type sqlite FILE.nsys-rep makes such a file");
  Trace trace;
  RL_TRY(NsysReader(file, trace).read());
  if (trace.kernels.size() == 0)
    return base::fail(ErrorCode::unsupported, "{}: no kernels", path).hint("{}", kRecordWithNsys);
  bound_values(trace);
  return trace;
}

}  // namespace ridgeline::trace
