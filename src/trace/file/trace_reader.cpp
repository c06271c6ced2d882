// SPDX-License-Identifier: Apache-2.0
#include "trace/file/trace_reader.hpp"

#include <limits>
#include <vector>

#include "base/json.hpp"
#include "schema/messages.hpp"
#include "trace/file/block_reader.hpp"
#include "trace/file/column_reader.hpp"
#include "trace/import/bound_values.hpp"
#include "trace/import/message_text.hpp"
#include "trace/messages.hpp"
#include "tracefile/table_columns.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;

constexpr int kDeepestNote = 16;

/// Of a foreign file.
void clean_texts(base::Json& json) {
  if (json.is_string()) json = message_text(json.get_ref<const std::string&>());
  if (json.is_structured())
    for (auto& item : json) clean_texts(item);
}

/// JSON, or text of a file of version 1.
schema::Message note_of(std::string_view bytes) {
  const auto is_near = [](int depth, base::Json::parse_event_t, const base::Json&) { return depth <= kDeepestNote; };
  if (auto json = base::Json::parse(bytes, is_near, false); json.is_object()) {
    clean_texts(json);
    if (auto note = base::json_as<schema::Message>(json, "note")) return *std::move(note);
  }
  // What else can be said of the trace depends on these two.
  if (bytes.starts_with("work of a GPU may be missing anywhere: ")) return messages::lacks_work();
  if (bytes.starts_with("kernels without a duration: ")) return messages::lacks_durations();
  return schema::messages::legacy({message_text(bytes), {}});
}

class BlockDecoder {
 public:
  explicit BlockDecoder(Trace& trace) : trace_(trace) {}

  /// False where the bytes are nothing that a TraceWriter writes; the trace is of no use then.
  bool decode(const BlockReader::Block& block) {
    VarintReader bytes(block.bytes);
    const auto count = bytes.varint();
    if (block.kind == BlockKind::end) {
      ended_ = true;
      return bytes.left() == 0 && count == events_;
    }
    // A row of any kind has a byte or more.
    if (count > bytes.left()) return false;
    switch (block.kind) {
      case BlockKind::strings: each(bytes, count, [&] { names_.push_back(trace_.strings.id(bytes.text())); }); break;
      case BlockKind::gpu_lanes:
        each(bytes, count, [&] {
          GpuLane lane;
          lane.process = number(bytes);
          lane.device = small_number(bytes);
          lane.context = number(bytes);
          lane.stream = number(bytes);
          const auto place = trace_.gpu_lane(lane);
          check_lane(bytes, place, trace_.gpu_lanes.size(), gpu_lanes_);
        });
        break;
      case BlockKind::thread_lanes:
        each(bytes, count, [&] {
          ThreadLane lane;
          lane.process = number(bytes);
          lane.thread = number(bytes);
          const auto place = trace_.thread_lane(lane);
          check_lane(bytes, place, trace_.thread_lanes.size(), thread_lanes_);
        });
        break;
      case BlockKind::devices:
        each(bytes, count, [&] {
          Device device;
          device.id = small_number(bytes);
          device.name = bytes.text();
          device.multiprocessors = small_number(bytes);
          device.compute_capability = bytes.text();
          trace_.devices.push_back(std::move(device));
        });
        break;
      case BlockKind::bandwidths:
        each(bytes, count, [&] {
          const auto place = bytes.varint();
          const auto rate = number(bytes);
          if (place < trace_.devices.size() && rate >= 0)
            trace_.devices[place].memory_bytes_per_s = rate;
          else
            bytes.fail();
        });
        break;
      case BlockKind::graph_nodes:
        each(bytes, count, [&] {
          GraphNode node;
          node.process = number(bytes);
          node.node = bytes.varint();
          const auto path = bytes.varint();
          if (path >= names_.size()) return bytes.fail(), void();
          node.path = names_[path];
          trace_.graph_nodes.push_back(node);
        });
        break;
      case BlockKind::gpu_samples:
        each(bytes, count, [&] {
          GpuSample sample;
          sample.time_ns = number(bytes);
          for (auto* value :
               {&sample.device, &sample.sm_mhz, &sample.memory_mhz, &sample.power_mw, &sample.temperature_c})
            *value = small_number(bytes);
          sample.reasons = number(bytes);
          trace_.gpu_samples.push_back(sample);
        });
        break;
      case BlockKind::notes:
        each(bytes, count, [&] {
          trace_.notes.push_back(note_of(bytes.text()));
          trace_.lacks_durations = trace_.lacks_durations || trace_.notes.back() == messages::lacks_durations();
          trace_.lacks_work =
              trace_.lacks_work || trace_.lacks_durations || trace_.notes.back() == messages::lacks_work();
        });
        break;
      default: read_events(block.kind, bytes, count);
    }
    return !bytes.failed() && bytes.left() == 0;
  }

  [[nodiscard]] bool ended() const noexcept { return ended_; }
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  template <typename Read>
  static void each(VarintReader& bytes, std::uint64_t count, Read read) {
    for (std::uint64_t i = 0; i < count && !bytes.failed(); ++i) read();
  }
  static std::int64_t number(VarintReader& bytes) { return unzigzag(bytes.varint()); }
  static std::int32_t small_number(VarintReader& bytes) {
    const auto value = number(bytes);
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
      bytes.fail();
    return static_cast<std::int32_t>(value);
  }
  /// Events name lanes by their places, which they would not have if one came twice.
  static void check_lane(VarintReader& bytes, LaneId place, std::size_t lanes, std::size_t& before) {
    if (place != before || lanes != before + 1) bytes.fail();
    ++before;
  }

  void read_events(BlockKind wanted, VarintReader& bytes, std::uint64_t count) {
    if (count > kMostBlockEvents) bytes.fail();
    each_table(trace_, [&](BlockKind kind, auto& table) {
      if (kind != wanted) return;
      ColumnReader columns(bytes, count, trace_, names_);
      code_columns(columns, table);
    });
    events_ += count;
  }

  Trace& trace_;
  std::vector<NameId> names_{0};  ///< by the numbers of the file; several names of it may be one of ours
  std::size_t gpu_lanes_ = 0;
  std::size_t thread_lanes_ = 0;
  std::uint64_t events_ = 0;
  bool ended_ = false;
};

}  // namespace

Result<Trace> read_trace_file(const std::string& path) {
  RL_TRY_ASSIGN(auto blocks, BlockReader::open(path));
  Trace trace;
  BlockDecoder decoder(trace);
  std::size_t number = 0;
  while (!decoder.ended()) {
    const auto block = blocks.next();
    if (!block) break;
    ++number;
    if (!decoder.decode(*block))
      return base::fail(ErrorCode::corrupt, "{}: block {} has what no trace can have", path, number);
  }
  if (!decoder.ended())
    trace.notes.push_back((blocks.damaged() ? messages::file_damaged
                                            : messages::file_ends_early)(static_cast<std::int64_t>(decoder.events())));
  bound_values(trace);
  return trace;
}

}  // namespace ridgeline::trace
