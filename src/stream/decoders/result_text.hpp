// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// Rounded to 0.1: "12.3".
void append_coordinate(std::string& json, double pixels);
/// Four significant digits: "0.9123".
void append_score(std::string& json, double score);

/// Names by number, as JSON strings made once.
class LabelTexts {
 public:
  explicit LabelTexts(std::span<const std::string> labels);
  [[nodiscard]] std::size_t size() const noexcept { return texts_.size(); }
  /// `,"label":"car"`; nothing for a number without a name.
  void append(std::string& json, int number) const;

 private:
  std::vector<std::string> texts_;
};

/// "[12.3,4.0]"
void append_point(std::string& json, Point point);

/// "box":[left,top,right,bottom]
void append_box(std::string& json, const FoundBox& box);
/// "points":[[x,y],[x,y],[x,y],[x,y]]
void append_quad(std::string& json, const Quad& corners);

/// A keypoint in pixels of the frame.
struct FoundPoint {
  double x = 0;
  double y = 0;
  double score = 0;
};

/// {"keypoints":[{"point":[x,y],"label":"nose","score":0.87}, ...]}, all in the model's order; those with a score below
/// `threshold` have the point null.
void append_keypoints(std::string& json, std::span<const FoundPoint> points, double threshold,
                      const LabelTexts& labels);

}  // namespace ridgeline::stream
