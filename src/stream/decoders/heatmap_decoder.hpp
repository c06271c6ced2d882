// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "stream/decoders/decoder_options.hpp"
#include "stream/decoders/result_text.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// Keypoints from one map each (KxHxW): the highest place, moved by a quarter of the map's pixel towards the higher
/// neighbour in each direction (Newell et al. 2016; HRNet, ViTPose). The score is the height.
///   {"keypoints":[{"point":[x,y],"label":"nose","score":0.87}, ...]}
class HeatmapDecoder : public ResultDecoder {
 public:
  /// Errors: invalid_argument (outputs of another shape).
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make(const DecoderOptions& options,
                                                                         std::span<const OutputShape> outputs);

  [[nodiscard]] base::Result<void> decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                          std::string& json) override;
  [[nodiscard]] schema::Message layout() const override { return messages::layout_heatmap(); }
  [[nodiscard]] std::optional<schema::Message> mismatch(std::span<const OutputView> outputs,
                                                        const FrameGeometry& geometry, bool named) const override;

 private:
  explicit HeatmapDecoder(const DecoderOptions& options);

  LabelTexts labels_;
  double score_threshold_;
  std::vector<FoundPoint> points_;
};

}  // namespace ridgeline::stream
