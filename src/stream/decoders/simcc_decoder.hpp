// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stream/decoders/decoder_options.hpp"
#include "stream/decoders/result_text.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// Which of two outputs has the columns; 0 or 1. nullopt where they are not Kx? and Kx? with the same number of
/// keypoints.
[[nodiscard]] std::optional<std::size_t> find_simcc_columns(std::span<const OutputShape> outputs);

/// Keypoints from one distribution each over columns (K x width*ratio) and rows (K x height*ratio): SimCC (Li et al.
/// 2022), as RTMPose exports it. Positions are the places of the maxima, the score is the lower one of both maxima.
///   {"keypoints":[{"point":[x,y],"label":"nose","score":0.87}, ...]}
class SimccDecoder : public ResultDecoder {
 public:
  /// Errors: invalid_argument (outputs of another shape).
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make(const DecoderOptions& options,
                                                                         std::span<const OutputShape> outputs);

  [[nodiscard]] base::Result<void> decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                          std::string& json) override;
  [[nodiscard]] schema::Message layout() const override { return messages::layout_simcc(); }

 private:
  SimccDecoder(const DecoderOptions& options, std::size_t columns);

  std::size_t columns_;  ///< the output that has them
  LabelTexts labels_;
  double score_threshold_;
  std::vector<FoundPoint> points_;
};

}  // namespace ridgeline::stream
