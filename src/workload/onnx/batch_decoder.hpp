// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stream/crop_stage.hpp"
#include "stream/decoders/make_decoder.hpp"
#include "workload/onnx/frame_groups.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/output_values.hpp"
#include "workload/onnx/tensor_folder.hpp"

namespace ridgeline::workload {

/// Decodes the outputs of batches, frame by frame. One thread.
class BatchDecoder {
 public:
  /// Both must outlive it.
  BatchDecoder(const OrtEnvironment& environment, const std::vector<OrtPort>& outputs);

  /// Before the first decode.
  void set_decoder(std::unique_ptr<stream::ResultDecoder> decoder) { decoder_ = std::move(decoder); }
  /// Where outputs are kept (null: nowhere), and whether found() is.
  void keep(const TensorFolder* tensors, bool boxes) {
    tensors_ = tensors;
    keeps_boxes_ = boxes;
  }
  [[nodiscard]] const stream::ResultDecoder* decoder() const noexcept { return decoder_.get(); }

  /// Reads the outputs of a batch, which are in host memory and stay there.
  [[nodiscard]] base::Result<void> read(const std::vector<OrtValueHandle>& values);
  /// The share that row `row` of `rows` has of each output, valid until the next call.
  [[nodiscard]] base::Result<std::span<const stream::OutputView>> row(std::int64_t rows, std::size_t row);

  /// Room for what is found in each frame of the next batch.
  void start(std::size_t frames) {
    if (keeps_boxes_) found_.resize(frames);
  }
  /// Results of the frames of a group, at their places in `results`, of outputs that were read.
  [[nodiscard]] base::Result<void> decode(const GroupedFrames& grouped, const FrameGroup& group,
                                          std::span<const stream::BatchFrame> frames, std::span<std::string> results);
  /// What the last batch found in each of its frames, where that is kept.
  [[nodiscard]] std::span<const stream::FoundBoxes> found() const noexcept { return found_; }

 private:
  [[nodiscard]] base::Result<void> keep_tensors(const stream::BatchFrame& frame) const;

  const OrtEnvironment& environment_;
  const std::vector<OrtPort>& outputs_;
  std::unique_ptr<stream::ResultDecoder> decoder_;
  const TensorFolder* tensors_ = nullptr;
  bool keeps_boxes_ = false;
  std::vector<stream::FoundBoxes> found_;
  std::vector<OutputValues> read_;
  std::vector<stream::OutputView> views_;  ///< of the frame that is decoded
  std::vector<std::string_view> bytes_;    ///< the same as the model gave them
};

}  // namespace ridgeline::workload
