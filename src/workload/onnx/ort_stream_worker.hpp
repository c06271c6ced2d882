// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "stream/batch_runner.hpp"
#include "stream/decoders/make_decoder.hpp"
#include "stream/preprocessor.hpp"
#include "workload/onnx/bound_session.hpp"
#include "workload/onnx/image_input.hpp"
#include "workload/onnx/ort_caller.hpp"
#include "workload/onnx/output_values.hpp"

namespace ridgeline::workload {

/// One session with its input buffers, its preprocessor and its decoder; one thread.
class OrtStreamWorker {
 public:
  OrtStreamWorker(const OrtEnvironment& environment, std::unique_ptr<OrtCaller> caller, ImageInput input,
                  std::vector<OrtPort> outputs, SessionSettings::RunHandle options, stream::Preprocessor preprocessor,
                  std::unique_ptr<stream::ResultDecoder> decoder);

  /// From now on tensors are in the memory of its device, and copies are told apart from inferences. Before the first
  /// run.
  [[nodiscard]] base::Result<void> bind(std::unique_ptr<DeviceTransfer> transfer);

  /// As BatchRunner::run. Frames whose inputs differ in size run as batches of their own.
  [[nodiscard]] base::Result<stream::BatchTimes> run(std::span<const stream::Image* const> images,
                                                     std::uint32_t executed_size, std::span<std::string> results);

 private:
  struct Buffer {
    OrtValueHandle value;
    std::byte* data = nullptr;  ///< of the host
    std::size_t frame_bytes = 0;
    std::shared_ptr<void> host{};  ///< of a bound session, as is device
    std::shared_ptr<void> device{};
    std::size_t bytes = 0;
  };
  /// Frames of one input size, by their place in the batch.
  struct Group {
    stream::FrameGeometry geometry;  ///< of the first one
    std::vector<std::size_t> places;
  };

  [[nodiscard]] base::Result<std::vector<Group>> group(std::span<const stream::Image* const> images);
  [[nodiscard]] base::Result<Buffer*> buffer(std::int64_t frames, const stream::FrameGeometry& geometry);
  [[nodiscard]] base::Result<Buffer> make_buffer(const std::vector<std::int64_t>& dims) const;
  /// Also tells copies of a bound session.
  [[nodiscard]] base::Result<std::vector<OrtValueHandle>> infer(const Buffer& input, stream::BatchTimes& times);
  [[nodiscard]] base::Result<void> fill(const Buffer& buffer, std::size_t at, const stream::Image& image,
                                        const stream::FrameGeometry& geometry);
  [[nodiscard]] base::Result<void> run_group(const Group& group, std::span<const stream::Image* const> images,
                                             std::int64_t frames, std::span<std::string> results,
                                             stream::BatchTimes& times);
  [[nodiscard]] base::Result<void> decode(const Group& group, std::int64_t frames,
                                          const std::vector<OrtValueHandle>& values, std::span<std::string> results);

  const OrtEnvironment& environment_;
  std::unique_ptr<OrtCaller> caller_;
  ImageInput input_;
  std::vector<OrtPort> outputs_;
  std::vector<const char*> output_names_;
  SessionSettings::RunHandle options_;
  stream::Preprocessor preprocessor_;
  std::unique_ptr<stream::ResultDecoder> decoder_;
  std::map<std::vector<std::int64_t>, Buffer> buffers_;  ///< by dimensions
  std::vector<stream::FrameGeometry> geometries_;        ///< of each frame of the batch under way
  std::vector<OutputValues> read_;
  std::unique_ptr<BoundSession> bound_;  ///< nullptr: the runtime copies within an inference
};

}  // namespace ridgeline::workload
