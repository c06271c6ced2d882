// SPDX-License-Identifier: Apache-2.0
#include "trace/import/kineto_import.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/json.hpp"
#include "trace/import/event_batches.hpp"
#include "trace/import/implausible_records.hpp"
#include "trace/import/json_events.hpp"
#include "trace/import/json_values.hpp"
#include "trace/import/message_text.hpp"
#include "trace/memory_events.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;
namespace ondemand = simdjson::ondemand;

enum class Category {
  other,
  kernel,
  copy,
  set,
  call,
  sync,
  operation,
  annotation,
  python,
  overhead,
  counters,
  instant
};

constexpr std::array<std::pair<std::string_view, Category>, 13> kCategories{
    {{"kernel", Category::kernel},
     {"cpu_op", Category::operation},
     {"python_function", Category::python},
     {"cuda_runtime", Category::call},
     {"cuda_driver", Category::call},
     {"gpu_memcpy", Category::copy},
     {"gpu_memset", Category::set},
     {"cuda_sync", Category::sync},
     {"user_annotation", Category::annotation},
     {"overhead", Category::overhead},
     {"cuda_profiler_range", Category::counters},
     {"cpu_instant_event", Category::instant},
     {"Kernel", Category::kernel}}};  // before 2022

Category category_of(std::string_view name) {
  for (const auto& [text, category] : kCategories)
    if (text == name) return category;
  return Category::other;
}

struct KinetoEvent : ChromeEvent {
  std::int64_t correlation = 0;
  std::optional<std::int64_t> device;
  std::int64_t gpu_process = 0;  // only write_chrome_json tells it
  std::int64_t context = 0;
  std::optional<std::int64_t> stream;
  std::int64_t bytes = -1;
  Dim3 grid;
  Dim3 block;
  std::int64_t registers = 0;
  std::int64_t shared_bytes = 0;
  std::int64_t graph_node = 0;
  std::int64_t sequence = -1;
  std::int64_t forward_thread = 0;
  Allocation memory;
  std::int64_t free_bytes = 0;
  std::string_view place;  // only write_chrome_json tells it, and the bytes that were free
  std::optional<std::int64_t> device_id;
  std::int64_t device_type = 0;
};

constexpr std::int64_t kCudaDevice = 1;  // "Device Type"

Dim3 extent(ondemand::value& value) {
  Dim3 out;
  ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return out;
  std::int32_t* const places[] = {&out.x, &out.y, &out.z};
  std::size_t at = 0;
  for (auto element : array) {
    std::int64_t number = 0;
    if (element.get_int64().get(number) != simdjson::SUCCESS || at >= 3) break;
    *places[at++] = static_cast<std::int32_t>(number);
  }
  return out;
}

void read_argument(std::string_view key, ondemand::value& value, KinetoEvent& event) {
  const auto into = [&](std::int64_t& place) {
    if (const auto number = whole(value)) place = *number;
  };
  if (key == "correlation")
    into(event.correlation);
  else if (key == "device")
    event.device = whole(value);
  else if (key == "process")
    into(event.gpu_process);
  else if (key == "context")
    into(event.context);
  else if (key == "stream")
    event.stream = whole(value);
  else if (key == "bytes")
    into(event.bytes);
  else if (key == "grid")
    event.grid = extent(value);
  else if (key == "block")
    event.block = extent(value);
  else if (key == "registers per thread")
    into(event.registers);
  else if (key == "shared memory")
    into(event.shared_bytes);
  else if (key == "graph node id")
    into(event.graph_node);
  else if (key == "Sequence number")
    into(event.sequence);
  else if (key == "Fwd thread id")
    into(event.forward_thread);
  else if (key == "Bytes")
    into(event.memory.bytes);
  else if (key == "Addr")
    into(event.memory.address);
  else if (key == "Total Allocated")
    into(event.memory.allocated_bytes);
  else if (key == "Total Reserved")
    into(event.memory.reserved_bytes);
  else if (key == "Device Id")
    event.device_id = whole(value);
  else if (key == "Device Type")
    into(event.device_type);
  else if (key == "Free")
    into(event.free_bytes);
  else if (key == "Place")
    read_text(value, event.place);
}

class Reader {
 public:
  explicit Reader(Trace& trace) : trace_(trace) {}

  void read(std::string_view batch) {
    parser_.parse(batch, [&](ondemand::object& object) {
      KinetoEvent event;
      const auto argument = [&](std::string_view key, ondemand::value& value) { read_argument(key, value, event); };
      if (!read_event(object, event, argument)) return false;
      add(event);
      return true;
    });
  }

  [[nodiscard]] const EventParser& parser() const noexcept { return parser_; }
  bool has_counters = false;  ///< of the range profiler
  bool has_gpu_memory = false;

 private:
  void add(const KinetoEvent& event) {
    const auto category = category_of(event.category);
    has_counters |= category == Category::counters;
    if (category == Category::instant) return add_memory(event);
    if (category == Category::other || event.phase != "X" || !event.start_ns) return;
    const auto name = trace_.strings.id(event.name);
    const auto gpu = [&] {
      return trace_.gpu_lane({event.gpu_process, static_cast<std::int32_t>(event.device.value_or(event.process)),
                              event.context, event.stream.value_or(event.thread)});
    };
    const auto thread = [&] { return trace_.thread_lane({event.process, event.thread}); };
    const auto put = [&](Spans& spans, LaneId lane) {
      spans.add(*event.start_ns, event.duration_ns, name, lane, event.correlation);
    };
    switch (category) {
      case Category::kernel: {
        auto& kernels = trace_.kernels;
        put(kernels, gpu());
        kernels.grid.push_back(event.grid);
        kernels.block.push_back(event.block);
        kernels.registers.push_back(static_cast<std::int32_t>(event.registers));
        kernels.shared_bytes.push_back(static_cast<std::int32_t>(event.shared_bytes));
        kernels.graph_node.push_back(static_cast<std::uint64_t>(event.graph_node));
        break;
      }
      case Category::copy:
      case Category::set: {
        auto& work = category == Category::copy ? trace_.copies : trace_.sets;
        put(work, gpu());
        work.bytes.push_back(event.bytes);
        break;
      }
      case Category::sync: put(trace_.syncs, gpu()); break;
      case Category::call: put(trace_.calls, thread()); break;
      default: {
        auto& ranges = trace_.ranges;
        put(ranges, thread());
        ranges.kind.push_back(category == Category::operation    ? RangeKind::operation
                              : category == Category::annotation ? RangeKind::annotation
                              : category == Category::python     ? RangeKind::python
                                                                 : RangeKind::overhead);
        ranges.sequence.push_back(event.sequence);
        ranges.forward_thread.push_back(event.forward_thread);
      }
    }
  }

  /// Of an instant event, if it is one of memory.
  void add_memory(const KinetoEvent& event) {
    const bool failed = event.name == kOutOfMemoryEvent;
    const bool reserved = event.name == kReservedEvent;
    const bool held = event.name == kHeldEvent;
    if (!event.start_ns || (!failed && !reserved && !held && event.name != kMemoryEvent)) return;
    auto one = event.memory;
    one.time_ns = *event.start_ns;
    one.device = event.device_type == kCudaDevice ? static_cast<std::int32_t>(event.device_id.value_or(0)) : -1;
    one.lane = trace_.thread_lane({event.process, event.thread});
    one.kind = failed          ? AllocationKind::out_of_memory
               : reserved      ? AllocationKind::reserved
               : held          ? AllocationKind::held
               : one.bytes < 0 ? AllocationKind::freed
                               : AllocationKind::allocated;
    if (failed) one.address = event.free_bytes;
    if (!event.place.empty()) one.place = trace_.strings.id(message_text(event.place));
    has_gpu_memory |= one.device >= 0;
    trace_.allocations.add(one);
  }

  Trace& trace_;
  EventParser parser_;
};

void read_devices(const JsonEvents& events, Trace& trace) {
  const auto found = events.others().find("deviceProperties");
  if (found == events.others().end()) return;
  const auto all = base::Json::parse(found->second, nullptr, false);
  if (!all.is_array()) return;
  for (const auto& one : all) {
    if (!one.is_object()) continue;
    const auto number = [&](const char* key) {
      const auto at = one.find(key);
      return at != one.end() && at->is_number_integer() ? at->get<std::int32_t>() : 0;
    };
    Device device;
    device.id = number("id");
    if (const auto name = one.find("name"); name != one.end() && name->is_string())
      device.name = name->get<std::string>();
    device.multiprocessors = number("numSms");
    if (const auto major = number("computeMajor"); major > 0)
      device.compute_capability = fmt::format("{}.{}", major, number("computeMinor"));
    trace.devices.push_back(std::move(device));
  }
}

constexpr std::string_view kRecord =
    "record with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])";

}  // namespace

Result<Trace> import_kineto(const std::string& path) {
  RL_TRY_ASSIGN(auto events, JsonEvents::open(path));
  Trace trace;
  Reader reader(trace);
  for (EventBatches batches(events);;) {
    RL_TRY_ASSIGN(const auto batch, batches.next());
    if (!batch) break;
    reader.read(*batch);
  }
  read_devices(events, trace);
  for (const auto& device : trace.devices)
    if (device.name.find("AMD") != std::string::npos)
      return base::fail(ErrorCode::unsupported, "{}: recorded on {}; only traces of NVIDIA GPUs are read", path,
                        message_text(device.name));
  if (trace.kernels.size() == 0 && !reader.has_gpu_memory) {
    if (reader.has_counters)
      return base::fail(ErrorCode::unsupported, "{}: has counters of CUPTI's range profiler, but no kernels", path)
          .hint("{}", kRecord);
    return base::fail(ErrorCode::unsupported, "{}: no kernels among {} events", path, reader.parser().seen())
        .hint("{}", kRecord);
  }
  if (events.cut_off())
    trace.notes.push_back(fmt::format("the file is cut off: it ends after {} events", reader.parser().seen()));
  if (reader.parser().broken() > 0)
    trace.notes.push_back(fmt::format("events that are no JSON, left out: {}", reader.parser().broken()));
  leave_out_implausible(trace);
  return trace;
}

}  // namespace ridgeline::trace
