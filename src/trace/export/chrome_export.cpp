// SPDX-License-Identifier: Apache-2.0
#include "trace/export/chrome_export.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "trace/analysis/gpu_counters.hpp"
#include "trace/export/json_text.hpp"
#include "trace/export/launch_flows.hpp"
#include "trace/export/output_file.hpp"
#include "trace/export/slice.hpp"
#include "trace/memory_events.hpp"

namespace ridgeline::trace {
namespace {

using base::Result;

/// Where an event is drawn.
struct ChromePlace {
  std::int64_t process = 0;
  std::int64_t thread = 0;
};

/// Drawn as a process each, the GPUs of a process, and as its threads their streams: by the numbers of the device and
/// the stream, as the PyTorch profiler does, except where another has that number already.
std::vector<ChromePlace> places_of_gpu_lanes(const Trace& trace) {
  std::set<std::int64_t> processes;
  for (const auto& lane : trace.thread_lanes) processes.insert(lane.process);
  std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> gpus;
  std::map<std::int64_t, std::set<std::int64_t>> streams;
  const auto free_number = [](std::set<std::int64_t>& taken, std::int64_t wanted) {
    while (!taken.insert(wanted).second) wanted = std::max<std::int64_t>(*taken.rbegin(), 0) + 1;
    return wanted;
  };
  std::vector<ChromePlace> out;
  for (const auto& lane : trace.gpu_lanes) {
    const auto [gpu, is_new] = gpus.try_emplace({lane.process, lane.device});
    if (is_new) gpu->second = free_number(processes, lane.device);
    out.push_back({gpu->second, free_number(streams[gpu->second], lane.stream)});
  }
  return out;
}

class ChromeExport {
 public:
  ChromeExport(const Trace& trace, OutputFile& file)
      : trace_(trace), file_(file), flows_(trace), gpu_places_(places_of_gpu_lanes(trace)) {
    for (const auto lane : trace.calls.lane) {
      const auto process = trace.thread_lanes[lane].process;
      if (process != trace.thread_lanes[trace.calls.lane[0]].process) has_several_processes_ = true;
    }
    is_onnxruntime_ = trace.kernels.size() == 0 && trace.nodes.size() > 0;
  }

  void write() {
    file_.write(is_onnxruntime_ ? "[" : head());
    name_tracks();
    for (std::size_t i = 0; i < kTables; ++i) {
      const auto table = static_cast<Table>(i);
      const auto rows = spans_of(trace_, table).size();
      for (std::size_t row = 0; row < rows && !file_.failed(); ++row) write_slice({static_cast<Place>(row), table});
    }
    for (std::size_t row = 0; row < trace_.allocations.size() && !file_.failed(); ++row) write_allocation(row);
    for (const auto& counter : gpu_counters(trace_)) write_counter(counter);
    file_.write(is_onnxruntime_ ? "\n]\n" : "\n]}\n");
  }

 private:
  [[nodiscard]] std::string head() const {
    std::string out = "{\"schemaVersion\":1,\n\"deviceProperties\":[";
    for (const auto& device : trace_.devices) {
      out += &device == &trace_.devices.front() ? "\n{\"id\":" : ",\n{\"id\":";
      append_number(out, device.id);
      out += ",\"name\":";
      append_json(out, device.name);
      const auto version = base::split(device.compute_capability, '.');
      if (version.size() == 2 && base::parse_integer(version[0], "") && base::parse_integer(version[1], ""))
        out += fmt::format(",\"computeMajor\":{},\"computeMinor\":{}", *base::parse_integer(version[0], ""),
                           *base::parse_integer(version[1], ""));
      out += ",\"numSms\":";
      append_number(out, device.multiprocessors);
      out += '}';
    }
    return out + "],\n\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[";
  }

  /// What draws the events, not an event of the trace.
  void name_track(std::string_view what, ChromePlace place, std::string_view key, std::string_view value) {
    begin_object();
    event_ += "{\"ph\":\"M\",\"name\":\"";
    event_ += what;
    event_ += "\",";
    add_place(place);
    event_ += ",\"args\":{\"";
    event_ += key;
    event_ += "\":";
    append_json(event_, value);
    event_ += "}}";
    file_.write(event_);
  }

  void name_tracks() {
    std::set<std::int64_t> named;
    for (const auto& lane : trace_.thread_lanes) {
      const ChromePlace place{lane.process, lane.thread};
      if (named.insert(lane.process).second) {
        name_track("process_name", place, "name", fmt::format("process {}", lane.process));
        name_track("process_labels", place, "labels", "CPU");
      }
      name_track("thread_name", place, "name", fmt::format("thread {}", lane.thread));
    }
    for (std::size_t i = 0; i < trace_.gpu_lanes.size(); ++i) {
      const auto& lane = trace_.gpu_lanes[i];
      if (named.insert(gpu_places_[i].process).second) {
        const auto of = lane.process != 0 ? fmt::format(" of process {}", lane.process) : std::string();
        name_track("process_name", gpu_places_[i], "name", fmt::format("GPU {}{}", lane.device, of));
        name_track("process_labels", gpu_places_[i], "labels", fmt::format("GPU {}", lane.device));
      }
      name_track("thread_name", gpu_places_[i], "name", fmt::format("stream {}", lane.stream));
    }
  }

  void begin_object() {
    event_.assign(is_first_ ? "\n" : ",\n");
    is_first_ = false;
  }

  void add_place(ChromePlace place) {
    event_ += "\"pid\":";
    append_number(event_, place.process);
    event_ += ",\"tid\":";
    append_number(event_, place.thread);
  }

  /// Of an argument of the event.
  void add_key(std::string_view key) {
    event_ += has_arguments_ ? ",\"" : ",\"args\":{\"";
    has_arguments_ = true;
    event_ += key;
    event_ += "\":";
  }
  void add_argument(std::string_view key, std::int64_t value) {
    add_key(key);
    append_number(event_, value);
  }
  void add_text_argument(std::string_view key, std::string_view value) {
    add_key(key);
    append_json(event_, value);
  }
  void add_extent_argument(std::string_view key, const Dim3& value) {
    if (value == Dim3()) return;
    add_key(key);
    event_ += fmt::format("[{},{},{}]", value.x, value.y, value.z);
  }

  void write_slice(Slice slice) {
    const auto& spans = spans_of(trace_, slice.table);
    const auto row = slice.row;
    const auto lane = spans.lane[row];
    const bool is_of_thread =
        slice.table == Table::ranges || slice.table == Table::nodes || slice.table == Table::calls;
    const auto place = is_of_thread ? ChromePlace{trace_.thread_lanes[lane].process, trace_.thread_lanes[lane].thread}
                                    : gpu_places_[lane];
    const auto category = category_of(trace_, slice);
    begin_object();
    has_arguments_ = false;
    event_ += "{\"ph\":\"X\",\"cat\":\"";
    event_ += is_onnxruntime_ && category == SliceCategory::annotation ? "Session" : name_of(category);
    event_ += "\",\"name\":";
    append_json(event_, trace_.strings.text(spans.name[row]));
    if (slice.table == Table::nodes) event_.insert(event_.size() - 1, "_kernel_time");
    event_ += ',';
    add_place(place);
    event_ += ",\"ts\":";
    append_microseconds(event_, spans.start_ns[row]);
    event_ += ",\"dur\":";
    append_microseconds(event_, spans.duration_ns[row]);
    if (!is_of_thread) add_gpu_arguments(trace_.gpu_lanes[lane]);
    if (spans.correlation[row] != 0) add_argument("correlation", spans.correlation[row]);
    add_arguments(slice);
    event_ += has_arguments_ ? "}}" : "}";
    file_.write(event_);
    add_flow(slice, place);
  }

  void add_gpu_arguments(const GpuLane& lane) {
    add_argument("device", lane.device);
    add_argument("context", lane.context);
    add_argument("stream", lane.stream);
    if (lane.process != 0) add_argument("process", lane.process);
  }

  void add_arguments(Slice slice) {
    const auto row = slice.row;
    if (slice.table == Table::kernels) {
      const auto& kernels = trace_.kernels;
      add_argument("registers per thread", kernels.registers[row]);
      add_argument("shared memory", kernels.shared_bytes[row]);
      add_extent_argument("grid", kernels.grid[row]);
      add_extent_argument("block", kernels.block[row]);
      if (kernels.graph_node[row] != 0)
        add_argument("graph node id", static_cast<std::int64_t>(kernels.graph_node[row]));
    } else if (slice.table == Table::copies || slice.table == Table::sets) {
      const auto bytes = (slice.table == Table::copies ? trace_.copies : trace_.sets).bytes[row];
      if (bytes != -1) add_argument("bytes", bytes);
    } else if (slice.table == Table::ranges) {
      const auto& ranges = trace_.ranges;
      if (ranges.sequence[row] != -1) add_argument("Sequence number", ranges.sequence[row]);
      if (ranges.forward_thread[row] != 0) add_argument("Fwd thread id", ranges.forward_thread[row]);
    } else if (slice.table == Table::nodes) {
      const auto& nodes = trace_.nodes;
      add_text_argument("op_name", trace_.strings.text(nodes.operation[row]));
      add_text_argument("provider", trace_.strings.text(nodes.provider[row]));
      add_size("activation_size", nodes.activation_bytes[row]);
      add_size("parameter_size", nodes.parameter_bytes[row]);
      add_size("output_size", nodes.output_bytes[row]);
    }
  }

  void write_allocation(std::size_t row) {
    const auto& all = trace_.allocations;
    const auto& lane = trace_.thread_lanes[all.lane[row]];
    const bool failed = all.kind[row] == AllocationKind::out_of_memory;
    begin_object();
    has_arguments_ = false;
    event_ += R"({"ph":"i","s":"t","cat":"cpu_instant_event","name":")";
    event_ += memory_event(all.kind[row]);
    event_ += "\",";
    add_place({lane.process, lane.thread});
    event_ += ",\"ts\":";
    append_microseconds(event_, all.time_ns[row]);
    add_argument("Bytes", all.bytes[row]);
    add_argument(failed ? "Free" : "Addr", all.address[row]);
    add_argument("Total Allocated", all.allocated_bytes[row]);
    add_argument("Total Reserved", all.reserved_bytes[row]);
    add_argument("Device Id", all.device[row]);
    add_argument("Device Type", all.device[row] < 0 ? 0 : 1);  // CPU, CUDA
    if (all.place[row] != 0) add_text_argument("Place", trace_.strings.text(all.place[row]));
    event_ += "}}";
    file_.write(event_);
  }

  void write_counter(const GpuCounter& counter) {
    for (const auto& [time_ns, value] : counter.values) {
      if (file_.failed()) return;
      begin_object();
      has_arguments_ = false;
      event_ += R"({"ph":"C","cat":"gpu_sample","name":)";
      append_json(event_, counter.name);
      event_ += ",\"pid\":0,\"ts\":";
      append_microseconds(event_, time_ns);
      add_argument(counter.unit, value);
      event_ += "}}";
      file_.write(event_);
    }
  }

  static std::string_view memory_event(AllocationKind kind) {
    switch (kind) {
      case AllocationKind::reserved: return kReservedEvent;
      case AllocationKind::held: return kHeldEvent;
      case AllocationKind::out_of_memory: return kOutOfMemoryEvent;
      default: return kMemoryEvent;
    }
  }

  /// ONNX Runtime has them as text.
  void add_size(std::string_view key, std::int64_t bytes) {
    if (bytes != -1) add_text_argument(key, fmt::format("{}", bytes));
  }

  void add_flow(Slice slice, ChromePlace place) {
    const bool is_call = slice.table == Table::calls;
    const auto call = is_call ? slice.row : flows_.call_of(slice);
    if (call == kNowhere || (is_call && flows_.of_call(call).empty())) return;
    begin_object();
    event_ += is_call ? "{\"ph\":\"s\",\"id\":" : "{\"ph\":\"f\",\"bp\":\"e\",\"id\":";
    // Each process counts its correlations by itself.
    append_number(event_, has_several_processes_ ? call + std::int64_t{1} : trace_.calls.correlation[call]);
    event_ += ',';
    add_place(place);
    event_ += ",\"ts\":";
    append_microseconds(event_, spans_of(trace_, slice.table).start_ns[slice.row]);
    event_ += ",\"cat\":\"ac2g\",\"name\":\"ac2g\"}";
    file_.write(event_);
  }

  const Trace& trace_;
  OutputFile& file_;
  LaunchFlows flows_;
  std::vector<ChromePlace> gpu_places_;  ///< of each lane
  bool has_several_processes_ = false;
  bool is_onnxruntime_ = false;
  bool is_first_ = true;  ///< event of the file
  std::string event_;
  bool has_arguments_ = false;
};

}  // namespace

Result<void> write_chrome_json(const Trace& trace, const std::string& path) {
  RL_TRY_ASSIGN(auto file, OutputFile::create(path));
  ChromeExport(trace, file).write();
  return file.finish();
}

}  // namespace ridgeline::trace
