// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "stream/batch_preprocessor.hpp"
#include "stream/batch_runner.hpp"
#include "stream/preprocessor.hpp"
#include "workload/onnx/batch_decoder.hpp"
#include "workload/onnx/bound_session.hpp"
#include "workload/onnx/frame_groups.hpp"
#include "workload/onnx/image_input.hpp"
#include "workload/onnx/ort_caller.hpp"

namespace ridgeline::workload {

/// What an OrtStreamWorker works with.
struct OrtStreamParts {
  std::unique_ptr<OrtCaller> caller;
  ImageInput input;
  std::optional<SizeInput> sizes;
  std::vector<OrtPort> outputs;
  SessionSettings::RunHandle options;
  stream::Preprocessor preprocessor;
};

/// One session with its input buffers, its preprocessor and its decoder; one thread.
class OrtStreamWorker {
 public:
  OrtStreamWorker(const OrtEnvironment& environment, OrtStreamParts parts);

  /// From now on tensors are in the memory of its device, and copies are told apart from inferences. Before the first
  /// run.
  [[nodiscard]] base::Result<void> bind(std::unique_ptr<DeviceTransfer> transfer);

  /// The outputs for one picture, by which their meaning is found; valid until the next run.
  struct Probe {
    std::span<const stream::OutputView> outputs;
    stream::FrameGeometry geometry;
  };
  [[nodiscard]] base::Result<Probe> probe(const stream::Image& image);
  /// Before the first run.
  void set_decoder(std::unique_ptr<stream::ResultDecoder> decoder) { decoder_.set_decoder(std::move(decoder)); }
  [[nodiscard]] const stream::ResultDecoder& decoder() const noexcept { return *decoder_.decoder(); }
  void set_preprocessor(const stream::PreprocessOptions& options);
  /// Where outputs are kept (null: nowhere), and whether found() is.
  void keep(const TensorFolder* tensors, bool boxes) { decoder_.keep(tensors, boxes); }
  [[nodiscard]] const OrtStreamParts& parts() const noexcept { return parts_; }

  /// As BatchRunner::run. Frames whose inputs differ in size run as batches of their own.
  [[nodiscard]] base::Result<stream::BatchTimes> run(std::span<const stream::BatchFrame> frames,
                                                     std::uint32_t executed_size, std::span<std::string> results);

  /// What the last run found in each of its frames, where that is kept.
  [[nodiscard]] std::span<const stream::FoundBoxes> found() const noexcept { return decoder_.found(); }

 private:
  struct Buffer {
    OrtValueHandle value{nullptr, nullptr};
    std::byte* data = nullptr;               ///< of the host
    OrtValueHandle sizes{nullptr, nullptr};  ///< null where the model has no such input
    std::shared_ptr<void> host{};            ///< of a bound session, as is device
    std::shared_ptr<void> device{};
    std::size_t bytes = 0;
  };
  [[nodiscard]] base::Result<Buffer*> buffer(const FrameGroup& group);
  [[nodiscard]] base::Result<Buffer> make_buffer(const std::vector<std::int64_t>& dims) const;
  /// Also tells copies of a bound session.
  [[nodiscard]] base::Result<std::vector<OrtValueHandle>> infer(const Buffer& input, stream::BatchTimes& times);
  [[nodiscard]] base::Result<void> run_group(const FrameGroup& group, std::span<const stream::BatchFrame> frames,
                                             std::span<std::string> results, stream::BatchTimes& times);

  const OrtEnvironment& environment_;
  OrtStreamParts parts_;
  std::vector<const char*> output_names_;
  std::map<std::vector<std::int64_t>, Buffer> buffers_;  ///< by dimensions
  GroupedFrames grouped_;                                ///< the batch under way
  stream::HostPreprocessor host_;
  std::vector<stream::PlannedFrame> planned_;  ///< of the batch under way
  BatchDecoder decoder_;
  std::vector<OrtValueHandle> probed_;   ///< whose outputs were read last, by a probe
  std::unique_ptr<BoundSession> bound_;  ///< nullptr: the runtime copies within an inference
};

}  // namespace ridgeline::workload
