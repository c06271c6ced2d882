// SPDX-License-Identifier: Apache-2.0
#include "trace/import/onnxruntime_import.hpp"

#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <unordered_set>

#include "trace/analysis/node_nesting.hpp"
#include "trace/analysis/range_names.hpp"
#include "trace/import/bound_values.hpp"
#include "trace/import/event_batches.hpp"
#include "trace/import/implausible_records.hpp"
#include "trace/import/json_values.hpp"
#include "trace/import/message_text.hpp"
#include "trace/import/node_flops.hpp"
#include "trace/import/whole_runs.hpp"
#include "trace/messages.hpp"
#include "trace/node_launches.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;
namespace ondemand = simdjson::ondemand;

constexpr std::string_view kNodeTime = "_kernel_time";  // behind a node's name
constexpr std::string_view kCopy = "Memcpy";            // of GPU work: a name's beginning
constexpr std::string_view kLoads = "model_loading";    // of a session's event: likewise
constexpr std::string_view kInitialized = "session_initialization";
constexpr std::string_view kRecordWithSession =
    "record with SessionOptions.enable_profiling = True and InferenceSession.end_profiling()";

struct NodeEvent : ChromeEvent {
  std::string_view operation;
  std::string_view provider;
  std::int64_t activation_bytes = -1;
  std::int64_t parameter_bytes = -1;
  std::int64_t output_bytes = -1;
  Shapes inputs;
  Shapes outputs;
  std::int64_t stream = 0;  // of a kernel, and so below
  Dim3 grid;
  Dim3 block;
};

/// [{"float":[1,3,224,224]}, ...].
void read_shapes(ondemand::value& value, Shapes& shapes) {
  ondemand::array tensors;
  if (value.get_array().get(tensors) != simdjson::SUCCESS) return;
  for (auto tensor : tensors) {
    auto& shape = shapes.emplace_back();
    ondemand::object typed;
    if (tensor.get_object().get(typed) != simdjson::SUCCESS) continue;
    for (auto field : typed) {
      ondemand::array dimensions;
      if (field.value().get_array().get(dimensions) != simdjson::SUCCESS) continue;
      for (auto dimension : dimensions) {
        std::int64_t extent = -1;
        if (dimension.get_int64().get(extent) != simdjson::SUCCESS) break;
        shape.push_back(extent);
      }
    }
  }
}

/// "grid_x" to "block_z".
void read_extent(std::string_view key, ondemand::value& value, NodeEvent& event) {
  auto& extent = key.starts_with("grid_") ? event.grid : event.block;
  const auto number = whole_or_text(value).value_or(0);
  if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) return;
  (key.back() == 'x' ? extent.x : key.back() == 'y' ? extent.y : extent.z) = static_cast<std::int32_t>(number);
}

void read_argument_of_node(std::string_view key, ondemand::value& value, NodeEvent& event) {
  if (key == "op_name")
    read_text(value, event.operation);
  else if (key == "provider")
    read_text(value, event.provider);
  else if (key == "activation_size")
    event.activation_bytes = whole_or_text(value).value_or(-1);
  else if (key == "parameter_size")
    event.parameter_bytes = whole_or_text(value).value_or(-1);
  else if (key == "output_size")
    event.output_bytes = whole_or_text(value).value_or(-1);
  else if (key == "input_type_shape")
    read_shapes(value, event.inputs);
  else if (key == "output_type_shape")
    read_shapes(value, event.outputs);
  else if (key == "stream")
    event.stream = whole_or_text(value).value_or(0);
  else if (key.starts_with("grid_") || key.starts_with("block_"))
    read_extent(key, value, event);
}

/// Makes tables of events, and remembers where these stand in the file.
class ProfileReader {
 public:
  explicit ProfileReader(Trace& trace) : trace_(trace) {}

  void add(const NodeEvent& event) {
    if (!event.start_ns || event.duration_ns < 0)
      without_time_ += event.phase == "X" ? 1 : 0;
    else if (!add_event(event))
      ++others_.try_emplace(std::string(event.category)).first->second;
  }
  [[nodiscard]] const ProfileOrder& order() const noexcept { return order_; }
  /// What was left out.
  void tell(std::vector<schema::Message>& notes) const {
    if (without_time_ > 0) notes.push_back(messages::nodes_without_time(static_cast<std::int64_t>(without_time_)));
    for (const auto& [kind, count] : others_)
      notes.push_back(messages::unread_kind({.count = static_cast<std::int64_t>(count), .kind = message_text(kind)}));
    if (!without_weights_.empty()) notes.push_back(messages::nodes_without_weights(std::ssize(without_weights_)));
  }

 private:
  /// Of a process: how many sessions began before, and whether the last has begun to work.
  struct Sessions {
    std::size_t before = 0;
    bool worked = false;
  };

  [[nodiscard]] std::size_t last_node() const {
    return trace_.nodes.size() == 0 ? ProfileOrder::kNoNode : trace_.nodes.size() - 1;
  }

  void put(const NodeEvent& event, Spans& spans, std::string_view name) {
    spans.add(*event.start_ns, event.duration_ns, trace_.strings.id(name),
              trace_.thread_lane({event.process, event.thread}), 0);
  }

  /// A session loads its model and initializes itself once, before it works.
  std::size_t session_of(const NodeEvent& event) {
    auto& sessions = sessions_[event.process];
    const bool initialized = event.name == kInitialized;
    if (sessions.worked && (initialized || event.name.starts_with(kLoads))) {
      ++sessions.before;
      sessions.worked = false;
    }
    sessions.worked = sessions.worked || initialized || event.category == "Node" || event.name == kModelRun;
    return sessions.before;
  }

  /// What was done on a GPU stands in the file behind the node that launched it.
  void add_gpu_work(const NodeEvent& event) {
    auto& nodes = trace_.nodes;
    std::int64_t launched_by = 0;
    GpuLane lane{0, 0, 0, event.stream};
    if (nodes.size() > 0) lane.process = trace_.thread_lanes[nodes.lane.back()].process;
    if (nodes.size() > 0 && (event.operation.empty() || trace_.strings.text(nodes.operation.back()) == event.operation))
      launched_by = nodes.correlation.back() = static_cast<std::int64_t>(nodes.size());
    const auto put = [&](Spans& spans) {
      spans.add(*event.start_ns, event.duration_ns, trace_.strings.id(event.name), trace_.gpu_lane(lane), launched_by);
    };
    if (event.name.starts_with(kCopy)) {
      put(trace_.copies);
      trace_.copies.bytes.push_back(-1);
      order_.node_of_copy.push_back(last_node());
      return;
    }
    put(trace_.kernels);
    trace_.kernels.grid.push_back(event.grid);
    trace_.kernels.block.push_back(event.block);
    trace_.kernels.registers.push_back(0);
    trace_.kernels.shared_bytes.push_back(0);
    trace_.kernels.graph_node.push_back(0);
    order_.node_of_kernel.push_back(last_node());
  }

  void add_node(const NodeEvent& event) {
    auto& nodes = trace_.nodes;
    order_.session_of_node.push_back(session_of(event));
    put(event, nodes, event.name.substr(0, event.name.size() - kNodeTime.size()));
    nodes.operation.push_back(trace_.strings.id(event.operation));
    nodes.provider.push_back(trace_.strings.id(event.provider));
    const bool lacks_weights = event.activation_bytes >= 0 && event.parameter_bytes == 0 && !event.inputs.empty() &&
                               lacks_operand(event.operation, event.inputs);
    if (lacks_weights) without_weights_.insert(nodes.name.back());
    nodes.activation_bytes.push_back(lacks_weights ? -1 : event.activation_bytes);
    nodes.parameter_bytes.push_back(event.parameter_bytes);
    nodes.output_bytes.push_back(event.output_bytes);
    nodes.flops.push_back(node_flops(event.operation, event.inputs, event.outputs));
  }

  /// False of a kind that is not read.
  bool add_event(const NodeEvent& event) {
    if (event.category == "Session") {
      order_.session_of_range.push_back(session_of(event));
      order_.nodes_before.push_back(trace_.nodes.size());
      put(event, trace_.ranges, event.name);
      trace_.ranges.kind.push_back(RangeKind::annotation);
      trace_.ranges.sequence.push_back(-1);
      trace_.ranges.forward_thread.push_back(0);
    } else if (event.category == "Kernel") {
      add_gpu_work(event);
    } else if (event.category == "Api") {
      order_.node_of_call.push_back(last_node());
      put(event, trace_.calls, event.name);
    } else if (event.category == "Node" && event.name.ends_with(kNodeTime)) {
      add_node(event);
    } else if (event.category != "Node") {  // of nodes also what they waited for, 0 today
      return event.phase != "X";
    }
    return true;
  }

  Trace& trace_;
  ProfileOrder order_;
  std::map<std::int64_t, Sessions> sessions_;  ///< by process
  std::size_t without_time_ = 0;
  std::unordered_set<NameId> without_weights_;              ///< nodes
  std::map<std::string, std::size_t, std::less<>> others_;  ///< by "cat"
};

}  // namespace

Result<Trace> import_session(const std::string& path) {
  RL_TRY_ASSIGN(auto events, JsonEvents::open(path));
  Trace trace;
  ProfileReader reader(trace);
  EventParser parser;
  for (EventBatches batches(events);;) {
    RL_TRY_ASSIGN(const auto batch, batches.next());
    if (!batch) break;
    NodeEvent event;
    const auto argument = [&](std::string_view key, ondemand::value& value) {
      read_argument_of_node(key, value, event);
    };
    parser.parse(
        *batch,
        [&](ondemand::object& object) {
          event = {};
          return read_event(object, event, argument);
        },
        [&] { reader.add(event); });
  }
  if (trace.nodes.size() == 0)
    return base::fail(ErrorCode::unsupported, "{}: no nodes of an ONNX model among {} events", path, parser.seen())
        .hint("{}", kRecordWithSession);
  trace.notes = damage_notes(events, parser);
  reader.tell(trace.notes);
  bound_values(trace);  // so that what follows may add
  RL_TRY(keep_whole_runs(path, trace, reader.order(), events.cut_off()));
  leave_out_implausible(trace);
  for (auto& note : nesting_notes(trace)) trace.notes.push_back(std::move(note));
  if (trace.calls.size() > 0)
    trace.notes.push_back(messages::calls_of_host(
        {.calls = static_cast<std::int64_t>(trace.calls.size()),
         .time = std::accumulate(trace.calls.duration_ns.begin(), trace.calls.duration_ns.end(), 0.0)}));
  return trace;
}

Result<Trace> import_onnxruntime(const std::string& path) {
  RL_TRY_ASSIGN(auto trace, import_session(path));
  if (auto note = launch_note(trace); !note.empty()) trace.notes.push_back(std::move(note));
  return trace;
}

}  // namespace ridgeline::trace
