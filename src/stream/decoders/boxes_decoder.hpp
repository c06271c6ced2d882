// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stream/decoders/box_decoder.hpp"
#include "stream/decoders/decoder_options.hpp"

namespace ridgeline::stream {

/// How a model that suppresses on its own gives its boxes; corners are pixels of the input.
enum class BoxesForm {
  separate,  ///< boxes (Nx4), scores (N), classes (N) and perhaps a number of boxes: EfficientNMS, YOLO-NAS,
             ///< torchvision
  scored,    ///< corners and score (Nx5), classes (N): MMDetection
  numbered,  ///< Nx7: picture, corners, then class and score (YOLOv7) or score and class (YOLO-NAS)
  labelled,  ///< Nx6: class, score, corners, and a number of boxes: PaddleDetection
};

/// Which outputs have what; places among the outputs.
struct BoxesOutputs {
  BoxesForm form = BoxesForm::separate;
  std::size_t boxes = 0;
  std::optional<std::size_t> scores;
  std::optional<std::size_t> labels;
  std::optional<std::size_t> count;
  bool is_unbatched = false;  ///< the outputs have no dimension for the batch: one picture at a time
  std::optional<messages::DecoderLeavesOutPart> left_out;
};

/// nullopt where they are none of the forms.
[[nodiscard]] std::optional<BoxesOutputs> find_boxes_outputs(std::span<const OutputShape> outputs);

/// Final boxes of other frameworks than Ultralytics.
class BoxesDecoder : public BoxDecoder {
 public:
  /// Errors: invalid_argument (options out of range, outputs of another shape).
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make(const DecoderOptions& options,
                                                                         std::span<const OutputShape> outputs);

  [[nodiscard]] schema::Message layout() const override;
  [[nodiscard]] std::optional<schema::Message> mismatch(std::span<const OutputView> outputs,
                                                        const FrameGeometry& geometry, bool named) const override;
  [[nodiscard]] std::optional<messages::DecoderLeavesOutPart> left_out() const override { return places_.left_out; }

 private:
  /// A box as the model has it.
  struct Row {
    const float* box;
    float score;
    float label;
    float picture;  ///< in the batch
  };

  BoxesDecoder(const DecoderOptions& options, BoxesOutputs places);
  base::Result<void> find_boxes(std::span<const OutputView> outputs, const FrameGeometry& geometry) override;
  [[nodiscard]] base::Result<std::vector<Row>> rows_of(std::span<const OutputView> outputs) const;
  [[nodiscard]] std::size_t width() const noexcept;

  BoxesOutputs places_;
};

}  // namespace ridgeline::stream
