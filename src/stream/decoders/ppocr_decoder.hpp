// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stream/decoders/connected_regions.hpp"
#include "stream/decoders/decoder_options.hpp"
#include "stream/decoders/rotated_rectangle.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// Text boxes from the probability map (1xHxW or HxW) of a PP-OCR detector: Liao et al. 2020 (differentiable
/// binarization), with PaddleOCR's DBPostProcess as the pattern.
///   {"boxes":[{"points":[[x,y],[x,y],[x,y],[x,y]],"score":0.93}, ...]}
/// Points go from the top left clockwise; boxes from the top of the frame by their region's first pixel.
class PpocrDecoder : public ResultDecoder {
 public:
  /// Errors: invalid_argument (outputs that are no single map; thresholds outside 0 to 1).
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make(const DecoderOptions& options,
                                                                         std::span<const OutputShape> outputs);

  [[nodiscard]] base::Result<void> decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                          std::string& json) override;
  [[nodiscard]] schema::Message layout() const override { return messages::layout_ppocr(); }
  [[nodiscard]] std::optional<schema::Message> mismatch(std::span<const OutputView> outputs,
                                                        const FrameGeometry& geometry, bool named) const override;
  [[nodiscard]] std::span<const FoundBox> boxes() const noexcept override { return boxes_; }
  [[nodiscard]] std::span<const Quad> quads() const noexcept override { return quads_; }
  [[nodiscard]] bool finds_boxes() const noexcept override { return true; }

 private:
  /// A probability map.
  struct Map {
    const float* values;
    std::int32_t width;
    std::int32_t height;
  };
  /// Columns of a row that lie in a rectangle.
  struct Extent {
    std::int32_t first;
    std::int32_t last;
  };

  PpocrDecoder(double text_threshold, double score_threshold, double unclip_ratio)
      : text_threshold_(text_threshold), score_threshold_(score_threshold), unclip_ratio_(unclip_ratio) {}
  /// Of regions that are no text: a mask of people or of a foreground has such.
  [[nodiscard]] std::optional<schema::Message> region_mismatch(const OutputView& output) const;
  [[nodiscard]] RotatedRectangle rectangle_around(std::span<const PixelRun> runs);
  [[nodiscard]] double mean_inside(const Map& map, const RotatedRectangle& rectangle);
  void append_box(const Map& map, const RotatedRectangle& rectangle, double score, const FrameGeometry& geometry,
                  std::string& json);

  double text_threshold_;
  double score_threshold_;
  double unclip_ratio_;
  ConnectedRegions regions_;
  std::vector<Point> points_;
  std::vector<Point> hull_;
  std::vector<Extent> extents_;
  std::vector<FoundBox> boxes_;
  std::vector<Quad> quads_;
};

}  // namespace ridgeline::stream
