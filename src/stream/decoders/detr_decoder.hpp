// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stream/decoders/box_decoder.hpp"
#include "stream/decoders/decoder_options.hpp"

namespace ridgeline::stream {

/// Which outputs of a detection transformer are what; places among the outputs.
struct DetrOutputs {
  std::size_t boxes = 0;
  std::size_t scores = 0;  ///< or logits
  std::optional<std::size_t> labels;
};

/// nullopt where they are neither logits (QxC) and boxes (Qx4), nor labels (Q), boxes (Qx4) and scores (Q).
[[nodiscard]] std::optional<DetrOutputs> find_detr_outputs(std::span<const OutputShape> outputs);

/// Boxes of DETR, Deformable DETR and RT-DETR: from logits and normalised boxes (centre and size), or from labels,
/// boxes and scores as RT-DETR's own export has them, whose corners are pixels of the input (`orig_target_sizes` is the
/// input's size). Nothing is suppressed.
class DetrDecoder : public BoxDecoder {
 public:
  /// Errors: invalid_argument (options out of range, outputs of another shape, another number of classes than labels).
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make(const DecoderOptions& options,
                                                                         std::span<const OutputShape> outputs);

 private:
  DetrDecoder(const DecoderOptions& options, const DetrOutputs& places);
  base::Result<void> find_boxes(std::span<const OutputView> outputs, const FrameGeometry& geometry) override;
  base::Result<void> take_scores(std::span<const OutputView> outputs);
  base::Result<void> take_logits(const OutputView& logits, const OutputView& boxes, const FrameGeometry& geometry);
  [[nodiscard]] DetrScores scores_for(std::size_t classes) const noexcept;

  DetrOutputs places_;
  float score_threshold_;
  std::size_t max_boxes_;
  std::optional<DetrScores> scores_;
};

}  // namespace ridgeline::stream
