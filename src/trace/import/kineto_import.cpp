// SPDX-License-Identifier: Apache-2.0
#include "trace/import/kineto_import.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/json.hpp"
#include "schema/message_renderer.hpp"
#include "trace/import/begin_end.hpp"
#include "trace/import/event_batches.hpp"
#include "trace/import/implausible_records.hpp"
#include "trace/import/json_damage.hpp"
#include "trace/import/json_events.hpp"
#include "trace/import/kineto_event.hpp"
#include "trace/import/message_text.hpp"
#include "trace/import/one_process.hpp"
#include "trace/import/product_shape.hpp"
#include "trace/memory_events.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;
namespace ondemand = simdjson::ondemand;

constexpr std::string_view kUnnamed = "(unnamed)";
constexpr std::int64_t kCudaDevice = 1;  // "Device Type"

class Reader {
 public:
  explicit Reader(Trace& trace) : trace_(trace) {}

  void read(std::string_view batch) {
    KinetoEvent event;
    const auto argument = [&](std::string_view key, ondemand::value& value) {
      read_kineto_argument(key, value, event);
    };
    parser_.parse(
        batch,
        [&](ondemand::object& object) {
          event = {};
          return read_event(object, event, argument);
        },
        [&] { add(event); });
  }

  /// Adds what was read in two parts (ph B and E); behind the last batch.
  void finish() {
    for (const auto& pair : begin_end_.pairs()) {
      auto& event = begun_[pair.number];
      event.duration_ns = pair.duration_ns;
      event.phase = "X";
      add(event);
    }
    begun_.clear();
    if (names_operations_) mark_annotations();
  }

  [[nodiscard]] const EventParser& parser() const noexcept { return parser_; }
  /// What was read, but is of no use.
  [[nodiscard]] std::vector<schema::Message> notes() const {
    std::vector<schema::Message> out;
    const auto add_counted = [&](schema::Message (*note)(std::int64_t), std::size_t count) {
      if (count > 0) out.push_back(note(static_cast<std::int64_t>(count)));
    };
    add_counted(messages::events_unpaired, begin_end_.unpaired());
    add_counted(messages::events_without_time, without_time_);
    add_counted(messages::events_of_no_length, without_duration_);
    add_counted(messages::autograd_times, autograd_kernels);
    if (auto kinds = other_kinds(); !kinds.empty()) out.push_back(messages::unread_kinds(kinds));
    return out;
  }
  /// "12 of xpu_runtime, 3 of another"; empty without any.
  [[nodiscard]] schema::Message other_kinds() const {
    if (others_.empty()) return {};
    std::vector<schema::Message> kinds;
    std::int64_t rest = 0;
    for (const auto& [kind, count] : others_)
      if (kinds.size() < kNamedKinds)
        kinds.push_back(
            messages::events_of_kind({.count = static_cast<std::int64_t>(count), .kind = message_text(kind)}));
      else
        rest += static_cast<std::int64_t>(count);
    return messages::kinds_of_events(
        {.kinds = std::move(kinds), .rest = rest > 0 ? std::optional(rest) : std::nullopt});
  }
  bool has_counters = false;  ///< of the range profiler
  bool has_gpu_memory = false;
  std::size_t autograd_kernels = 0;  ///< times of GPU work by operation, of old releases of torch.autograd.profiler

 private:
  static constexpr std::size_t kNamedKinds = 5;
  static constexpr std::string_view kAutogradProcess = "CPU functions";

  void add(const KinetoEvent& event) {
    if (event.phase != "X") return add_other_phase(event);
    const auto category = event.category.empty() && event.process_name == kAutogradProcess
                              ? KinetoCategory::operation
                              : kineto_category(event.category);
    has_counters |= category == KinetoCategory::counters;
    if (category == KinetoCategory::other) return add_other(event);
    if (category == KinetoCategory::ignored || category == KinetoCategory::counters ||
        category == KinetoCategory::instant)
      return;
    if (!event.start_ns || event.duration_ns < 0) {
      ++(event.start_ns ? without_duration_ : without_time_);
      return;
    }
    const auto name = trace_.strings.id(event.name.empty() ? kUnnamed : event.name);
    const auto gpu = [&] {
      return trace_.gpu_lane({event.gpu_process, static_cast<std::int32_t>(event.device.value_or(event.process)),
                              event.context, event.stream.value_or(event.thread)});
    };
    const auto thread = [&] { return trace_.thread_lane({event.process, event.thread}); };
    const auto put = [&](Spans& spans, LaneId lane) {
      spans.add(*event.start_ns, event.duration_ns, name, lane, event.correlation);
    };
    switch (category) {
      case KinetoCategory::kernel: {
        auto& kernels = trace_.kernels;
        put(kernels, gpu());
        kernels.grid.push_back(event.grid);
        kernels.block.push_back(event.block);
        kernels.registers.push_back(static_cast<std::int32_t>(event.registers));
        kernels.shared_bytes.push_back(static_cast<std::int32_t>(event.shared_bytes));
        kernels.graph_node.push_back(static_cast<std::uint64_t>(event.graph_node));
        break;
      }
      case KinetoCategory::copy:
      case KinetoCategory::set: {
        auto& work = category == KinetoCategory::copy ? trace_.copies : trace_.sets;
        put(work, gpu());
        work.bytes.push_back(event.bytes);
        break;
      }
      case KinetoCategory::sync: put(trace_.syncs, gpu()); break;
      case KinetoCategory::call: put(trace_.calls, thread()); break;
      default: {
        auto& ranges = trace_.ranges;
        if (event.category.empty()) {
          unnamed_kinds_.push_back(ranges.size());
          names_operations_ = names_operations_ || event.name.starts_with("aten::");
        }
        put(ranges, thread());
        ranges.kind.push_back(category == KinetoCategory::operation    ? RangeKind::operation
                              : category == KinetoCategory::annotation ? RangeKind::annotation
                              : category == KinetoCategory::python     ? RangeKind::python
                                                                       : RangeKind::overhead);
        ranges.sequence.push_back(event.sequence);
        ranges.forward_thread.push_back(event.forward_thread);
        if (category == KinetoCategory::operation)
          if (const auto shape = product_shape(event.name, event.input_shapes))
            trace_.product_shapes.emplace(std::pair(ranges.lane.back(), ranges.start_ns.back()), *shape);
      }
    }
  }

  /// torch.autograd.profiler has no categories: of what it names, operations of PyTorch have a namespace, or are nodes
  /// of the backward pass ("AddmmBackward0").
  void mark_annotations() {
    auto& ranges = trace_.ranges;
    for (const auto range : unnamed_kinds_) {
      auto name = trace_.strings.text(ranges.name[range]);
      while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
      if (name.find("::") == std::string_view::npos && !name.ends_with("Backward"))
        ranges.kind[range] = RangeKind::annotation;
    }
  }

  /// Texts of an event last as long as the batch, those of the table as long as the trace.
  [[nodiscard]] std::string_view kept(std::string_view text) { return trace_.strings.text(trace_.strings.id(text)); }

  void add_other_phase(const KinetoEvent& event) {
    if (event.phase == "i" && kineto_category(event.category) == KinetoCategory::instant) return add_memory(event);
    if (event.phase != "B" && event.phase != "E") {
      return add_unread_phase(event);
    }
    if (!event.start_ns) return;
    const BeginEnd::Thread thread{event.process, event.thread};
    const auto name = trace_.strings.id(event.name);
    if (event.phase == "E") return begin_end_.end(thread, *event.start_ns, name);
    (void)begin_end_.begin(thread, *event.start_ns, name, within(kineto_category(event.category)));
    auto& begun = begun_.emplace_back(event);
    begun.name = trace_.strings.text(name);
    begun.category = kept(event.category);
    begun.process_name = {};
    begun.place = {};
    begun.input_shapes = {};
  }

  static BeginEnd::Within within(KinetoCategory category) {
    switch (category) {
      case KinetoCategory::kernel:
      case KinetoCategory::copy:
      case KinetoCategory::set: return BeginEnd::Within::none_of_kind;
      case KinetoCategory::call: return BeginEnd::Within::others;
      case KinetoCategory::operation: return BeginEnd::Within::one_of_name;
      default: return BeginEnd::Within::all;
    }
  }

  /// Arrows, metadata, marks and counters say nothing that is looked at; other events have a length that is not read.
  void add_unread_phase(const KinetoEvent& event) {
    constexpr std::string_view kSilent = "MstfiIRC";
    if (event.phase.size() == 1 && kSilent.find(event.phase[0]) != std::string_view::npos) return;
    auto kind = std::string(event.category);
    if (!event.phase.empty())
      kind += fmt::format("{}ph {}", kind.empty() ? "" : " with ", event.phase);
    else if (!kind.empty())
      kind += " without ph";
    ++others_[kind];
  }

  void add_other(const KinetoEvent& event) {
    if (event.process_name == "CUDA functions") {
      ++autograd_kernels;
      return;
    }
    const auto found = others_.find(event.category);
    if (found != others_.end())
      ++found->second;
    else if (others_.size() < 1000)
      others_.emplace(event.category, 1);
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
  BeginEnd begin_end_;
  std::vector<KinetoEvent> begun_;
  std::vector<std::size_t> unnamed_kinds_;                  ///< ranges of torch.autograd.profiler
  bool names_operations_ = false;                           ///< with a namespace, as releases since 2020 do
  std::map<std::string, std::size_t, std::less<>> others_;  ///< by "cat"
  std::size_t without_time_ = 0;
  std::size_t without_duration_ = 0;
};

void read_devices(const JsonEvents& events, Trace& trace) {
  const auto found = events.others().find("deviceProperties");
  if (found == events.others().end()) return;
  auto all = base::Json::parse(found->second, nullptr, false);
  if (all.is_discarded()) {
    all = base::Json::parse(mended(found->second), nullptr, false);
    trace.notes.push_back(all.is_discarded() ? messages::devices_left_out() : messages::devices_put_right());
  }
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

/// Of what the program did, rather than of the profiler alone.
bool has_host_ranges(const Trace& trace) {
  return std::any_of(trace.ranges.kind.begin(), trace.ranges.kind.end(),
                     [](auto kind) { return kind != RangeKind::overhead; });
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
  reader.finish();
  const bool has_work = trace.kernels.size() + trace.copies.size() + trace.sets.size() > 0 || reader.has_gpu_memory;
  if (!has_work && reader.has_counters)
    return base::fail(ErrorCode::unsupported, "{}: has counters of CUPTI's range profiler, but no kernels", path)
        .hint("{}", kRecord);
  if (!has_work && !has_host_ranges(trace) && reader.autograd_kernels > 0)
    return base::fail(
               ErrorCode::unsupported,
               "{}: a trace of torch.autograd.profiler with times of GPU work, but without the operations of the "
               "host",
               path)
        .hint("{}", kRecord);
  if (!has_work && !has_host_ranges(trace)) {
    const std::array tables{messages::table()};
    const auto others = schema::MessageRenderer(tables).text(reader.other_kinds());
    return base::fail(ErrorCode::unsupported, "{}: no kernels and no operations among {} events{}", path,
                      reader.parser().seen(), others.empty() ? "" : "; their categories: " + others)
        .hint("{}", kRecord);
  }
  trace.notes = damage_notes(events, reader.parser());
  read_devices(events, trace);
  trace.lacks_work = (events.cut_off() || events.left_out() + reader.parser().broken() > 0) && !trace.is_of_host();
  if (trace.lacks_work) trace.notes.push_back(messages::lacks_work());
  for (auto& note : reader.notes()) trace.notes.push_back(std::move(note));
  leave_out_implausible(trace, events.cut_off());
  keep_one_process_of_host(trace);
  return trace;
}

}  // namespace ridgeline::trace
