// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stream/decoders/box_decoder.hpp"
#include "stream/decoders/box_table.hpp"
#include "stream/decoders/decoder_options.hpp"

namespace ridgeline::stream {

/// Which outputs of a detection transformer are what; places among the outputs.
struct DetrOutputs {
  std::size_t boxes = 0;
  std::size_t scores = 0;  ///< or logits; the same as the boxes where one output has both
  std::optional<std::size_t> labels;

  [[nodiscard]] bool is_joined() const noexcept { return boxes == scores; }
};

/// nullopt where they are neither logits (QxC) and boxes (Qx4), nor labels (Q), boxes (Qx4) and scores (Q), nor boxes
/// and scores in one (Qx(4+C)).
[[nodiscard]] std::optional<DetrOutputs> find_detr_outputs(std::span<const OutputShape> outputs);

/// Boxes of DETR, Deformable DETR and RT-DETR: from logits (or scores) and normalised boxes (centre and size); from
/// both in one output as Ultralytics exports RT-DETR, which has scores; or from labels, boxes and scores as RT-DETR's
/// own export has them, whose corners are pixels of the input (`orig_target_sizes` is the input's size). Nothing is
/// suppressed.
class DetrDecoder : public BoxDecoder {
 public:
  /// Errors: invalid_argument (options out of range, outputs of another shape, another number of classes than labels).
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make(const DecoderOptions& options,
                                                                         std::span<const OutputShape> outputs);

  [[nodiscard]] schema::Message layout() const override;
  [[nodiscard]] std::optional<schema::Message> mismatch(std::span<const OutputView> outputs,
                                                        const FrameGeometry& geometry, bool named) const override;

 private:
  /// Scores or logits of all queries, and their boxes.
  struct Queries {
    BoxTable boxes;   ///< the first four values
    BoxTable scores;  ///< all values
    std::size_t first_class = 0;
    std::size_t classes = 0;
  };

  DetrDecoder(const DecoderOptions& options, const DetrOutputs& places);
  base::Result<void> find_boxes(std::span<const OutputView> outputs, const FrameGeometry& geometry) override;
  [[nodiscard]] base::Result<void> check(std::span<const OutputView> outputs) const;
  [[nodiscard]] Queries queries_of(std::span<const OutputView> outputs) const;
  base::Result<void> take_scores(std::span<const OutputView> outputs);
  base::Result<void> take_queries(const Queries& queries, const FrameGeometry& geometry);
  /// How many of the classes are no "no object".
  [[nodiscard]] std::size_t named_classes(std::size_t classes) const noexcept;
  [[nodiscard]] DetrScores scores_for(std::size_t classes) const noexcept;

  DetrOutputs places_;
  std::optional<DetrScores> scores_;
};

}  // namespace ridgeline::stream
