// SPDX-License-Identifier: Apache-2.0
#include "trace/import/onnxruntime_import.hpp"

#include <functional>
#include <limits>
#include <map>
#include <string>

#include "trace/import/bound_values.hpp"
#include "trace/import/event_batches.hpp"
#include "trace/import/json_values.hpp"
#include "trace/import/message_text.hpp"
#include "trace/import/node_flops.hpp"
#include "trace/node_launches.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;
namespace ondemand = simdjson::ondemand;

constexpr std::string_view kNodeTime = "_kernel_time";  // behind a node's name
constexpr std::string_view kCopy = "Memcpy";            // of GPU work: a name's beginning
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

/// What was done on a GPU stands in the file behind the node that launched it.
void add_gpu_work(const NodeEvent& event, Trace& trace) {
  auto& nodes = trace.nodes;
  std::int64_t launched_by = 0;
  GpuLane lane{0, 0, 0, event.stream};
  if (nodes.size() > 0) lane.process = trace.thread_lanes[nodes.lane.back()].process;
  if (nodes.size() > 0 && (event.operation.empty() || trace.strings.text(nodes.operation.back()) == event.operation))
    launched_by = nodes.correlation.back() = static_cast<std::int64_t>(nodes.size());
  const auto put = [&](Spans& spans) {
    spans.add(*event.start_ns, event.duration_ns, trace.strings.id(event.name), trace.gpu_lane(lane), launched_by);
  };
  if (event.name.starts_with(kCopy)) {
    put(trace.copies);
    trace.copies.bytes.push_back(-1);
    return;
  }
  put(trace.kernels);
  trace.kernels.grid.push_back(event.grid);
  trace.kernels.block.push_back(event.block);
  trace.kernels.registers.push_back(0);
  trace.kernels.shared_bytes.push_back(0);
  trace.kernels.graph_node.push_back(0);
}

/// False of a kind that is not read.
bool add_event(const NodeEvent& event, Trace& trace) {
  const auto put = [&](Spans& spans, std::string_view name) {
    spans.add(*event.start_ns, event.duration_ns, trace.strings.id(name),
              trace.thread_lane({event.process, event.thread}), 0);
  };
  if (event.category == "Session") {
    put(trace.ranges, event.name);
    trace.ranges.kind.push_back(RangeKind::annotation);
    trace.ranges.sequence.push_back(-1);
    trace.ranges.forward_thread.push_back(0);
  } else if (event.category == "Kernel") {
    add_gpu_work(event, trace);
  } else if (event.category == "Node" && event.name.ends_with(kNodeTime)) {
    auto& nodes = trace.nodes;
    put(nodes, event.name.substr(0, event.name.size() - kNodeTime.size()));
    nodes.operation.push_back(trace.strings.id(event.operation));
    nodes.provider.push_back(trace.strings.id(event.provider));
    nodes.activation_bytes.push_back(event.activation_bytes);
    nodes.parameter_bytes.push_back(event.parameter_bytes);
    nodes.output_bytes.push_back(event.output_bytes);
    nodes.flops.push_back(node_flops(event.operation, event.inputs, event.outputs));
  } else if (event.category != "Node") {  // of nodes also what they waited for, 0 today
    return event.phase != "X";
  }
  return true;
}

}  // namespace

Result<Trace> import_onnxruntime(const std::string& path) {
  RL_TRY_ASSIGN(auto events, JsonEvents::open(path));
  Trace trace;
  EventParser parser;
  std::size_t without_time = 0;
  std::map<std::string, std::size_t, std::less<>> others;  // by "cat"
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
        [&] {
          if (!event.start_ns || event.duration_ns < 0)
            without_time += event.phase == "X" ? 1 : 0;
          else if (!add_event(event, trace))
            ++others.try_emplace(std::string(event.category)).first->second;
        });
  }
  if (trace.nodes.size() == 0)
    return base::fail(ErrorCode::unsupported, "{}: no nodes of an ONNX model among {} events", path, parser.seen())
        .hint("{}", kRecordWithSession);
  trace.notes = damage_notes(events, parser);
  if (without_time > 0)
    trace.notes.push_back(fmt::format("events without a time, or whose duration is none, left out: {}", without_time));
  for (const auto& [kind, count] : others)
    trace.notes.push_back(fmt::format("events of a kind that is not read: {} of {}", count, message_text(kind)));
  if (auto note = launch_note(trace); !note.empty()) trace.notes.push_back(std::move(note));
  bound_values(trace);
  return trace;
}

}  // namespace ridgeline::trace
