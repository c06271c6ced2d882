// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/busy_clock.hpp"
#include "stream/batch_runner.hpp"
#include "workload/onnx/cuda_preprocessor.hpp"
#include "workload/onnx/ort_stream_worker.hpp"
#include "workload/onnx/session_thread.hpp"
#include "workload/onnx/slot_binding.hpp"

namespace ridgeline::workload {

/// Page-locked memory for the outputs of a batch; grows to what was needed. One thread at a time.
class HostOutputs {
 public:
  explicit HostOutputs(const GpuSide& gpu) : gpu_(gpu) {}
  /// Room for output `at`. Errors: out_of_memory.
  [[nodiscard]] base::Result<void*> room(std::size_t at, std::size_t bytes);

 private:
  const GpuSide& gpu_;
  std::vector<std::optional<gpu::PinnedBuffer>> buffers_;
};

/// One session on a GPU, whose batches overlap: while one is computed, the frames of the next go up and the outputs of
/// the one before come down, each on a stream of its own. As many batches as it has slots are on the GPU; more wait for
/// a slot. Any threads.
class OverlappedSession {
 public:
  static constexpr std::size_t kSlots = 2;  ///< one that is computed, one that is filled or emptied

  struct Setup {
    const OrtEnvironment& environment;
    const GpuSide& gpu;
    std::shared_ptr<const PreprocessKernel> kernel;
    gpu::BusyClock& busy;
    gpu::CudaStream compute;                  ///< that the session works on
    MemoryPlace place = MemoryPlace::device;  ///< as BoundModel
  };
  /// What `setup` and `parts` refer to outlives it.
  [[nodiscard]] static base::Result<std::unique_ptr<OverlappedSession>> create(Setup setup, OrtStreamParts parts);
  OverlappedSession(const OverlappedSession&) = delete;
  OverlappedSession& operator=(const OverlappedSession&) = delete;
  ~OverlappedSession();

  [[nodiscard]] const OrtStreamParts& parts() const noexcept { return parts_; }
  [[nodiscard]] const OrtEnvironment& environment() const noexcept { return setup_.environment; }
  [[nodiscard]] const GpuSide& gpu() const noexcept { return setup_.gpu; }
  /// Before the first run after which results count.
  [[nodiscard]] base::Result<void> set_preprocessor(const stream::PreprocessOptions& options);

  /// Allocates what batches of these sizes need, in all slots, and captures a CUDA graph for each; other CUDA calls of
  /// the process would spoil that. `graph_options` makes the run options of a graph by its number; null: no graphs are
  /// wanted; before a capture it runs `runs_before` times, so that the runtime has allocated what it needs, which it
  /// cannot meanwhile. Why there are none, where some were wanted: an output whose size the data decides.
  using GraphOptions = std::function<base::Result<SessionSettings::RunHandle>(int number)>;
  [[nodiscard]] base::Result<std::string> prepare(const stream::Image& sample, std::span<const std::uint32_t> sizes,
                                                  const GraphOptions& graph_options, int runs_before = 1);
  /// CUDA graphs that were captured.
  [[nodiscard]] std::size_t graphs() const noexcept { return graphs_; }

  /// Runs the frames of a group; its outputs in host memory, valid until `host` is used again.
  [[nodiscard]] base::Result<std::vector<OrtValueHandle>> run(const FrameGroup& group,
                                                              std::span<const stream::PlannedFrame> frames,
                                                              HostOutputs& host, stream::BatchTimes& times);

 private:
  struct Bound {
    std::unique_ptr<SlotBinding> binding;
    SessionSettings::RunHandle graph{nullptr, nullptr};  ///< null: it runs without one
  };
  struct Slot {
    CudaPreprocessor preprocessor;
    gpu::CudaEvent begun;  ///< the upload
    gpu::CudaEvent uploaded;
    gpu::CudaEvent started;  ///< the inference
    gpu::CudaEvent finished;
    gpu::CudaEvent downloaded;
    std::map<std::vector<std::int64_t>, Bound> bound{};  ///< by the input's dimensions
    bool is_taken = false;
  };
  /// Holds a slot.
  class Lease;

  OverlappedSession(Setup setup, OrtStreamParts parts, gpu::CudaStream up, gpu::CudaStream down);
  [[nodiscard]] base::Result<void> make_slots();
  [[nodiscard]] base::Result<Slot> make_slot() const;
  [[nodiscard]] base::Result<Bound*> bound(Slot& slot, const FrameGroup& group);
  [[nodiscard]] base::Result<void> upload(Slot& slot, Bound& bound, std::span<const stream::PlannedFrame> frames);
  [[nodiscard]] base::Result<void> infer(Slot& slot, Bound& bound);
  [[nodiscard]] base::Result<std::vector<OrtValueHandle>> download(Slot& slot, Bound& bound, HostOutputs& host);
  [[nodiscard]] base::Result<void> capture(Slot& slot, Bound& bound, const GraphOptions& graph_options,
                                           int runs_before);
  [[nodiscard]] base::Result<void> check(gpu::CudaStatus status, const char* doing) const;
  void await_streams() const noexcept;

  Setup setup_;
  OrtStreamParts parts_;
  BoundModel model_;
  gpu::CudaStream up_;
  gpu::CudaStream down_;
  std::size_t graphs_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<Slot> slots_;
  std::string no_graph_;  ///< why the last capture made none
  SessionThread thread_;  ///< ends before what it works with
};

}  // namespace ridgeline::workload
