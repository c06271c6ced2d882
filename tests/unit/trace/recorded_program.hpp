// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"
#include "unit/trace/trace_builder.hpp"

namespace ridgeline::trace {

/// A PyTorch program on an H200 as `ridgeline profile -- CMD` records it: ranges of modules and annotations, kernels by
/// their names alone, copies and calls; no operations. One host thread launches, one stream runs what was launched.
class RecordedProgram : public TraceBuilder {
 public:
  RecordedProgram() {
    trace.of_recorder = true;
    trace.devices.push_back({0, "NVIDIA H200", 132, "9.0", 4'800'000'000'000});
  }

  /// Around what `body` does: a call of a module, "layers.0.norm (RMSNorm)".
  template <typename Body>
  void in_module_of(std::string_view name, Body body) {
    around(RangeKind::python, "nn.Module: " + std::string(name), body);
  }
  /// The annotations that python/ridgeline_profile makes.
  template <typename Body>
  void within(std::string_view annotation_name, Body body) {
    around(RangeKind::annotation, annotation_name, body);
  }
  void host_works(std::int64_t ns) { host_ns_ += ns; }

  void run(std::string_view name, std::int64_t ns, Dim3 grid = {4096, 1, 1}) {
    const auto called = host_ns_;
    const auto start = std::max(gpu_ns_ + kTurnNs, called + kReachNs);
    launch(name, called, start, start + ns);
    trace.kernels.grid.back() = grid;
    host_ns_ += launch_ns;
    gpu_ns_ = start + ns;
    kernel_bytes_.push_back(0);
  }
  /// A kernel that waits for memory: as many MB as it reads and writes decide how long it takes.
  void move(std::string_view name, double megabytes, Dim3 grid = {4096, 1, 1}) {
    run(name, static_cast<std::int64_t>(2000 + megabytes * 250), grid);  // 4 TB/s
    kernel_bytes_.back() = megabytes * 1e6;
  }
  /// The host waits until all work is done, as .item() does.
  void item() {
    launch_copy("Memcpy DtoH (Device -> Pageable)", host_ns_, gpu_ns_ + kTurnNs, gpu_ns_ + kTurnNs + 1500, 4);
    gpu_ns_ += kTurnNs + 1500;
    host_ns_ += 4000;
    call("cudaStreamSynchronize", host_ns_, gpu_ns_ + 6000, 0);
    host_ns_ = gpu_ns_ + 8000;
  }
  /// A batch to the GPU. The host copies pageable memory itself.
  void upload(bool pageable, std::int64_t bytes) {
    const auto ns = bytes / (pageable ? 8 : 50);
    const auto start = std::max(gpu_ns_ + kTurnNs, host_ns_ + kReachNs);
    const auto called = host_ns_;
    launch_copy(pageable ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)", called, start,
                start + ns, bytes);
    if (pageable) trace.calls.duration_ns.back() = start + ns - called;
    host_ns_ = pageable ? start + ns : called + 5000;
    gpu_ns_ = start + ns;
  }

  /// When the program ends.
  [[nodiscard]] std::int64_t end_ns() const { return std::max(host_ns_, gpu_ns_); }

  [[nodiscard]] std::vector<schema::ProfileFinding> findings(bool with_bytes) const {
    AnalysedTrace analysed(trace);
    if (with_bytes) analysed.kernel_bytes = kernel_bytes_;
    return find_savings(analysed, tables_of(analysed));
  }

  std::int64_t launch_ns = 7000;  ///< that the host takes for a kernel

 private:
  static constexpr std::int64_t kTurnNs = 1000;   // from one queued kernel to the next
  static constexpr std::int64_t kReachNs = 4000;  // from a launch to its kernel

  template <typename Body>
  void around(RangeKind kind, std::string_view name, Body body) {
    const auto begin = host_ns_;
    host_ns_ += 500;
    body();
    host_ns_ += 500;
    range(kind, name, begin, host_ns_);
  }

  std::int64_t host_ns_ = 10'000;
  std::int64_t gpu_ns_ = 0;
  std::vector<double> kernel_bytes_;
};

}  // namespace ridgeline::trace
