// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "stream/batch_runner.hpp"
#include "stream/crop_stage.hpp"
#include "stream/decoders/make_decoder.hpp"
#include "stream/preprocessor.hpp"
#include "workload/onnx/bound_session.hpp"
#include "workload/onnx/image_input.hpp"
#include "workload/onnx/ort_caller.hpp"
#include "workload/onnx/output_values.hpp"
#include "workload/onnx/tensor_folder.hpp"

namespace ridgeline::workload {

/// What an OrtStreamWorker works with.
struct OrtStreamParts {
  std::unique_ptr<OrtCaller> caller;
  ImageInput input;
  std::optional<SizeInput> sizes;
  std::vector<OrtPort> outputs;
  SessionSettings::RunHandle options;
  stream::Preprocessor preprocessor;
  std::unique_ptr<stream::ResultDecoder> decoder;  ///< set by the first run
  const TensorFolder* tensors = nullptr;           ///< where the outputs of every frame go; null: nowhere
  bool keeps_boxes = false;                        ///< for found()
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
  void set_decoder(std::unique_ptr<stream::ResultDecoder> decoder) { parts_.decoder = std::move(decoder); }
  void set_preprocessor(const stream::PreprocessOptions& options) {
    parts_.preprocessor = stream::Preprocessor(options);
  }
  /// Where outputs are kept (null: nowhere), and whether found() is.
  void keep(const TensorFolder* tensors, bool boxes) {
    parts_.tensors = tensors;
    parts_.keeps_boxes = boxes;
  }
  [[nodiscard]] const OrtStreamParts& parts() const noexcept { return parts_; }

  /// As BatchRunner::run. Frames whose inputs differ in size run as batches of their own.
  [[nodiscard]] base::Result<stream::BatchTimes> run(std::span<const stream::BatchFrame> frames,
                                                     std::uint32_t executed_size, std::span<std::string> results);

  /// What the last run found in each of its frames, where that is kept.
  [[nodiscard]] std::span<const stream::FoundBoxes> found() const noexcept { return found_; }

 private:
  struct Buffer {
    OrtValueHandle value{nullptr, nullptr};
    std::byte* data = nullptr;  ///< of the host
    std::size_t frame_bytes = 0;
    OrtValueHandle sizes{nullptr, nullptr};  ///< null where the model has no such input
    std::shared_ptr<void> host{};            ///< of a bound session, as is device
    std::shared_ptr<void> device{};
    std::size_t bytes = 0;
  };
  /// Frames of one input size, by their place in the batch.
  struct Group {
    stream::FrameGeometry geometry;  ///< of the first one
    std::int64_t rows = 0;           ///< of the tensors, with those that pad the batch
    std::vector<std::size_t> places;
  };

  [[nodiscard]] base::Result<std::vector<Group>> group(std::span<const stream::BatchFrame> frames,
                                                       std::uint32_t executed_size);
  [[nodiscard]] base::Result<Buffer*> buffer(const Group& group);
  [[nodiscard]] base::Result<Buffer> make_buffer(const std::vector<std::int64_t>& dims) const;
  [[nodiscard]] base::Result<OrtValueHandle> make_sizes(const Group& group) const;
  /// Also tells copies of a bound session.
  [[nodiscard]] base::Result<std::vector<OrtValueHandle>> infer(const Buffer& input, stream::BatchTimes& times);
  [[nodiscard]] base::Result<void> fill(const Buffer& buffer, std::size_t at, const stream::Image& image,
                                        const stream::FrameGeometry& geometry);
  [[nodiscard]] base::Result<void> run_group(const Group& group, std::span<const stream::BatchFrame> frames,
                                             std::span<std::string> results, stream::BatchTimes& times);
  /// Reads the outputs of a batch.
  [[nodiscard]] base::Result<void> read(const std::vector<OrtValueHandle>& values);
  [[nodiscard]] base::Result<void> decode(const Group& group, std::span<const stream::BatchFrame> frames,
                                          const std::vector<OrtValueHandle>& values, std::span<std::string> results);
  /// The share that row `row` of `rows` has of each output.
  [[nodiscard]] base::Result<void> cut_outputs(std::int64_t rows, std::size_t row);
  [[nodiscard]] base::Result<void> keep_tensors(const stream::BatchFrame& frame) const;

  const OrtEnvironment& environment_;
  OrtStreamParts parts_;
  std::vector<const char*> output_names_;
  std::map<std::vector<std::int64_t>, Buffer> buffers_;  ///< by dimensions
  std::vector<stream::FrameGeometry> geometries_;        ///< of each frame of the batch under way
  std::vector<stream::FoundBoxes> found_;                ///< the same
  std::vector<OutputValues> read_;
  std::vector<stream::OutputView> views_;  ///< of the frame that is decoded
  std::vector<std::string_view> bytes_;    ///< the same as the model gave them
  std::vector<OrtValueHandle> probed_;     ///< whose outputs were read last, by a probe
  std::unique_ptr<BoundSession> bound_;    ///< nullptr: the runtime copies within an inference
};

}  // namespace ridgeline::workload
