// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tracefile/string_table.hpp"

namespace ridgeline::trace {

/// Where work of a GPU is queued: one in-order stream. Numbers are those of the file; 0 where it has none.
struct GpuLane {
  std::int64_t process = 0;
  std::int32_t device = 0;
  std::int64_t context = 0;
  std::int64_t stream = 0;
  friend auto operator<=>(const GpuLane&, const GpuLane&) = default;
};

/// A thread of a process.
struct ThreadLane {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  friend auto operator<=>(const ThreadLane&, const ThreadLane&) = default;
};

/// Index into Trace::gpu_lanes or Trace::thread_lanes, whichever the table is of.
using LaneId = std::uint32_t;

/// What every table of spans has, a column each. Times are nanoseconds from the trace's own zero; a duration is never
/// negative.
struct Spans {
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> duration_ns;
  std::vector<NameId> name;
  std::vector<LaneId> lane;
  std::vector<std::int64_t> correlation;  ///< joins work of a GPU with the call that launched it; 0: unknown

  [[nodiscard]] std::size_t size() const noexcept { return start_ns.size(); }
  void add(std::int64_t start, std::int64_t duration, NameId called, LaneId where, std::int64_t joined_by) {
    start_ns.push_back(start);
    duration_ns.push_back(duration);
    name.push_back(called);
    lane.push_back(where);
    correlation.push_back(joined_by);
  }
};

/// Extent of a grid or a block; 0 where the file does not tell.
struct Dim3 {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int32_t z = 0;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// Of a GPU lane.
struct Kernels : Spans {
  std::vector<Dim3> grid;
  std::vector<Dim3> block;
  std::vector<std::int32_t> registers;      ///< a thread
  std::vector<std::int32_t> shared_bytes;   ///< a block
  std::vector<std::uint64_t> graph_node{};  ///< of a CUDA graph; 0: launched alone
};

/// A node of a CUDA graph as the recorder saw it captured: replays launch it from elsewhere.
struct GraphNode {
  std::int64_t process = 0;
  std::uint64_t node = 0;  ///< Kernels::graph_node
  /// The ranges of the thread that captured it, from the outside in, each as the digit of its RangeKind and its name,
  /// joined by newlines. Behind a run of a session of ONNX Runtime follows the session's node, as the kind
  /// kSessionNode, or, until that is known, when and by which thread the node was captured, as kCaptureTime.
  NameId path = 0;
};
inline constexpr char kSessionNode = 'n';
inline constexpr char kCaptureTime = 't';  ///< "1234567890 77": ns, thread

/// Of a GPU lane: copies and sets of memory.
struct MemoryWork : Spans {
  std::vector<std::int64_t> bytes;  ///< -1: unknown
};

/// Of a thread lane: calls of the CUDA runtime or driver.
struct ApiCalls : Spans {};

/// Waits for a GPU, as the profiler records them; of a GPU lane.
struct Syncs : Spans {};

enum class RangeKind : std::uint8_t {
  operation,   ///< of the framework: aten::mm
  annotation,  ///< of the user: record_function, NVTX
  python,      ///< a Python function, nn.Module calls among them
  overhead,    ///< of the profiler
};

/// Of a thread lane, nested by time.
struct Ranges : Spans {
  std::vector<RangeKind> kind;
  std::vector<std::int64_t> sequence;        ///< autograd's, shared by an operation and its backward; -1: none
  std::vector<std::int64_t> forward_thread;  ///< of a backward operation: the thread that ran its forward; 0: none
};

/// Name of the annotation around a backward pass, as python/ridgeline_profile has it: modules within it are those of
/// the forward pass.
inline constexpr std::string_view kBackwardPass = "(backward)";
/// Begin of the name of the Python range around a run of a session of ONNX Runtime, before the model's.
inline constexpr std::string_view kSessionRun = "run of ";
/// Name of a range of RangeKind::overhead: `ridgeline profile` recorded nothing of the process meanwhile.
inline constexpr std::string_view kRecordingPaused = "recording paused";

/// Of a product of matrices, rows x inner and inner x columns, or of many such pairs at once.
struct ProductShape {
  std::int64_t pairs = 0;  ///< 0: one pair that is not batched
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
};

/// Nodes of an ONNX model, as ONNX Runtime ran them; of a thread lane. On a GPU a node's time is that of its launches,
/// and its correlation joins it with the kernels, where they were recorded.
struct Nodes : Spans {
  std::vector<NameId> operation;               ///< "Conv"
  std::vector<NameId> provider;                ///< "CPUExecutionProvider"
  std::vector<std::int64_t> activation_bytes;  ///< inputs that are no weights; -1: unknown, and so below
  std::vector<std::int64_t> parameter_bytes;
  std::vector<std::int64_t> output_bytes;
  std::vector<std::int64_t> flops;  ///< floating-point operations, from the shapes

  /// Read and written, where all three are known; -1 otherwise.
  [[nodiscard]] std::int64_t bytes(std::size_t i) const {
    return activation_bytes[i] < 0 || parameter_bytes[i] < 0 || output_bytes[i] < 0
               ? -1
               : activation_bytes[i] + parameter_bytes[i] + output_bytes[i];
  }
};

/// Launches whose bytes the GPU counted; of a GPU lane. They ran one by one and outside the time that is recorded, so
/// none of them is in another table. Starts are those of the launching calls; durations are the GPU's own, 0: not
/// counted.
struct CountedLaunches : Spans {
  std::vector<Dim3> grid;  ///< of a CUDA graph: zeros, and so the block
  std::vector<Dim3> block;
  std::vector<NameId> path;                   ///< the ranges around the launch, as GraphNode::path
  std::vector<std::int64_t> step;             ///< of the program, from 1 on; 0: before the first
  std::vector<std::int32_t> graph_nodes;      ///< of a CUDA graph that ran as one; 0: a kernel
  std::vector<std::int64_t> dram_read_bytes;  ///< -1: not counted, and so below
  std::vector<std::int64_t> dram_write_bytes;
  std::vector<std::int64_t> l2_bytes;
  std::vector<std::int32_t> tensor_permille;  ///< of the cycles in which tensor cores could have worked
};

enum class AllocationKind : std::uint8_t {
  allocated,
  freed,
  reserved,       ///< the framework's allocator took memory of the device, or gave it back
  held,           ///< allocated before the recording began, and never freed in it
  out_of_memory,  ///< an allocation that failed
};

/// What happened to a device's memory, one event.
struct Allocation {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;    ///< negative: freed, given back; of one that failed: asked for
  std::int64_t address = 0;  ///< of one that failed: bytes that the device had free; 0: unknown
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::int32_t device = 0;
  LaneId lane = 0;
  NameId place = 0;
  AllocationKind kind = AllocationKind::allocated;
};

/// Of a thread lane: what frameworks allocate.
struct Allocations {
  std::vector<std::int64_t> time_ns;  ///< from the trace's own zero
  std::vector<std::int64_t> bytes;
  std::vector<std::int64_t> address;
  std::vector<std::int64_t> allocated_bytes;  ///< of the device in all, after it
  std::vector<std::int64_t> reserved_bytes;   ///< likewise
  std::vector<std::int32_t> device;           ///< a GPU; -1: the host
  std::vector<LaneId> lane;
  std::vector<NameId> place;  ///< "train.py(41): step", of one that is no freeing; 0: the file does not tell
  std::vector<AllocationKind> kind;

  [[nodiscard]] std::size_t size() const noexcept { return time_ns.size(); }
  void add(const Allocation& one) {
    time_ns.push_back(one.time_ns);
    bytes.push_back(one.bytes);
    address.push_back(one.address);
    allocated_bytes.push_back(one.allocated_bytes);
    reserved_bytes.push_back(one.reserved_bytes);
    device.push_back(one.device);
    lane.push_back(one.lane);
    place.push_back(one.place);
    kind.push_back(one.kind);
  }
};

}  // namespace ridgeline::trace
