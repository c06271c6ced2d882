// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "trace/analysis/nesting.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Writes a trace event by event. Times in nanoseconds; process 1, device 0 unless another one is set.
class TraceBuilder {
 public:
  Trace trace;
  std::int32_t device = 0;

  Place range(RangeKind kind, std::string_view name, std::int64_t start, std::int64_t end, std::int64_t thread = 1,
              std::int64_t sequence = -1, std::int64_t forward_thread = 0) {
    auto& ranges = trace.ranges;
    ranges.add(start, end - start, trace.strings.id(name), trace.thread_lane({1, thread}), 0);
    ranges.kind.push_back(kind);
    ranges.sequence.push_back(sequence);
    ranges.forward_thread.push_back(forward_thread);
    return static_cast<Place>(ranges.size() - 1);
  }
  Place module(std::string_view name, std::int64_t start, std::int64_t end, std::int64_t thread = 1) {
    return range(RangeKind::python, "nn.Module: " + std::string(name), start, end, thread);
  }
  Place operation(std::string_view name, std::int64_t start, std::int64_t end, std::int64_t thread = 1,
                  std::int64_t sequence = -1, std::int64_t forward_thread = 0) {
    return range(RangeKind::operation, name, start, end, thread, sequence, forward_thread);
  }
  Place annotation(std::string_view name, std::int64_t start, std::int64_t end, std::int64_t thread = 1) {
    return range(RangeKind::annotation, name, start, end, thread);
  }
  Place call(std::string_view name, std::int64_t start, std::int64_t end, std::int64_t correlation,
             std::int64_t thread = 1) {
    trace.calls.add(start, end - start, trace.strings.id(name), trace.thread_lane({1, thread}), correlation);
    return static_cast<Place>(trace.calls.size() - 1);
  }
  Place kernel(std::string_view name, std::int64_t start, std::int64_t end, std::int64_t correlation,
               std::int64_t stream = 7, Dim3 grid = {1000, 1, 1}) {
    auto& kernels = trace.kernels;
    kernels.add(start, end - start, trace.strings.id(name), trace.gpu_lane({1, device, 1, stream}), correlation);
    kernels.grid.push_back(grid);
    kernels.block.push_back({128, 1, 1});
    kernels.registers.push_back(32);
    kernels.shared_bytes.push_back(0);
    kernels.graph_node.push_back(0);
    return static_cast<Place>(kernels.size() - 1);
  }
  /// A kernel that is launched by a call of a microsecond.
  Place launch(std::string_view name, std::int64_t called, std::int64_t start, std::int64_t end,
               std::int64_t thread = 1) {
    const auto correlation = ++correlations_;
    call("cudaLaunchKernel", called, called + 1000, correlation, thread);
    return kernel(name, start, end, correlation);
  }
  void copy(std::string_view name, std::int64_t start, std::int64_t end, std::int64_t bytes, std::int64_t stream = 8,
            std::int64_t correlation = 0) {
    trace.copies.add(start, end - start, trace.strings.id(name), trace.gpu_lane({1, device, 1, stream}), correlation);
    trace.copies.bytes.push_back(bytes);
  }
  /// A copy that is launched by a call of a microsecond.
  void launch_copy(std::string_view name, std::int64_t called, std::int64_t start, std::int64_t end,
                   std::int64_t bytes) {
    const auto correlation = ++correlations_;
    call("cudaMemcpyAsync", called, called + 1000, correlation);
    copy(name, start, end, bytes, 8, correlation);
  }
  void node(std::string_view name, std::string_view operation, std::int64_t start, std::int64_t end,
            std::int64_t bytes = 10, std::int64_t flops = 20, std::int64_t output_bytes = 0) {
    auto& nodes = trace.nodes;
    nodes.add(start, end - start, trace.strings.id(name), trace.thread_lane({1, 1}), 0);
    nodes.operation.push_back(trace.strings.id(operation));
    nodes.provider.push_back(trace.strings.id("CPUExecutionProvider"));
    nodes.activation_bytes.push_back(bytes);
    nodes.parameter_bytes.push_back(0);
    nodes.output_bytes.push_back(output_bytes);
    nodes.flops.push_back(flops);
  }

  /// Of device 0; negative bytes: freed. Totals follow from what was added before.
  void allocation(std::int64_t time, std::int64_t bytes, std::int64_t address, std::int64_t thread = 1,
                  std::string_view place = "") {
    allocated_ += bytes;
    reserved_ = std::max(reserved_, allocated_ + 1000);
    trace.allocations.add({time, bytes, address, allocated_, reserved_, 0, trace.thread_lane({1, thread}),
                           trace.strings.id(place), bytes < 0 ? AllocationKind::freed : AllocationKind::allocated});
  }

 private:
  std::int64_t allocated_ = 0;
  std::int64_t reserved_ = 0;
  std::int64_t correlations_ = 0;
};

}  // namespace ridgeline::trace
