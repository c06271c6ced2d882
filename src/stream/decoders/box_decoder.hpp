// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stream/decoders/decoder_options.hpp"
#include "stream/decoders/result_text.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// How a decoder's boxes are treated once they are read.
struct BoxRules {
  std::string_view decoder;  ///< its name
  float score_threshold = 0.25F;
  bool suppresses = false;  ///< overlaps are left: the model has not done it
  bool has_angle = false;   ///< boxes are quadrangles
  std::size_t keypoints = 0;
  std::size_t keypoint_values = 3;  ///< 2: without scores
};

/// What decoders of boxes have in common: they choose the best boxes, bring them to the frame and write them down, best
/// first.
///   {"boxes":[{"box":[left,top,right,bottom],"label":"car","class":2,"score":0.91}, ...]}
/// Quadrangles have "points":[[x,y],[x,y],[x,y],[x,y]] in place of "box", from the top left corner clockwise; boxes
/// with keypoints end with "keypoints":[{"point":[x,y],"score":0.87}, ...].
class BoxDecoder : public ResultDecoder {
 public:
  [[nodiscard]] base::Result<void> decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                          std::string& json) final;
  [[nodiscard]] std::span<const FoundBox> boxes() const noexcept final { return boxes_; }
  [[nodiscard]] std::span<const Quad> quads() const noexcept final { return quads_; }
  [[nodiscard]] bool finds_boxes() const noexcept final { return true; }

 protected:
  /// Values that boxes have beside their place, score and class: value v of box `row` is at row * box_step + v * step.
  struct BesideValues {
    std::span<const float> values{};
    std::size_t box_step = 0;
    std::size_t step = 1;
    [[nodiscard]] float at(std::size_t row, std::size_t value) const { return values[row * box_step + value * step]; }
  };

  BoxDecoder(const BoxRules& rules, const DecoderOptions& options);
  /// Fills boxes_, which is empty, with boxes in pixels of the input that reach the threshold, with their rows where
  /// they have an angle or keypoints. A turned box is as it would be upright.
  [[nodiscard]] virtual base::Result<void> find_boxes(std::span<const OutputView> outputs,
                                                      const FrameGeometry& geometry) = 0;
  [[nodiscard]] const LabelTexts& labels() const noexcept { return labels_; }
  [[nodiscard]] const BoxRules& rules() const noexcept { return rules_; }

  std::vector<FoundBox> boxes_;
  BesideValues angles_;     ///< radians, clockwise from the x axis
  BesideValues keypoints_;  ///< x, y and perhaps a score of each

 private:
  void choose();
  [[nodiscard]] base::Result<void> place(const FrameGeometry& geometry);
  [[nodiscard]] Quad turned(const FoundBox& box) const;
  void append(std::string& json, const FrameGeometry& geometry) const;
  void append_keypoints_of(const FoundBox& box, std::string& json, const FrameGeometry& geometry) const;

  BoxRules rules_;
  LabelTexts labels_;
  double iou_threshold_;
  std::size_t max_boxes_;
  std::vector<int> classes_;
  std::vector<Quad> quads_;
};

}  // namespace ridgeline::stream
