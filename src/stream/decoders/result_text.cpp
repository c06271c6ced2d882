// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/result_text.hpp"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "base/json.hpp"

namespace ridgeline::stream {

void append_coordinate(std::string& json, double pixels) {
  // Adding zero makes -0 plain 0.
  fmt::format_to(std::back_inserter(json), "{:.1f}", std::round(pixels * 10) / 10 + 0.0);
}

void append_score(std::string& json, double score) { fmt::format_to(std::back_inserter(json), "{:.4g}", score); }

LabelTexts::LabelTexts(std::span<const std::string> labels) {
  texts_.reserve(labels.size());
  for (const auto& label : labels) texts_.push_back(R"(,"label":)" + base::dump_json(label));
}

void LabelTexts::append(std::string& json, int number) const {
  if (number >= 0 && static_cast<std::size_t>(number) < texts_.size()) json += texts_[static_cast<std::size_t>(number)];
}

void append_point(std::string& json, Point point) {
  json += '[';
  append_coordinate(json, point.x);
  json += ',';
  append_coordinate(json, point.y);
  json += ']';
}

void append_box(std::string& json, const FoundBox& box) {
  json += R"("box":[)";
  append_coordinate(json, static_cast<double>(box.left));
  json += ',';
  append_coordinate(json, static_cast<double>(box.top));
  json += ',';
  append_coordinate(json, static_cast<double>(box.right));
  json += ',';
  append_coordinate(json, static_cast<double>(box.bottom));
  json += ']';
}

void append_quad(std::string& json, const Quad& corners) {
  json += R"("points":[)";
  for (std::size_t i = 0; i < corners.size(); ++i) {
    if (i > 0) json += ',';
    append_point(json, corners[i]);
  }
  json += ']';
}

void append_keypoints(std::string& json, std::span<const FoundPoint> points, double threshold,
                      const LabelTexts& labels) {
  json += R"({"keypoints":[)";
  for (std::size_t i = 0; i < points.size(); ++i) {
    json += i == 0 ? R"({"point":)" : R"(,{"point":)";
    if (points[i].score < threshold) {
      json += "null";
    } else {
      append_point(json, {points[i].x, points[i].y});
    }
    labels.append(json, static_cast<int>(i));
    json += R"(,"score":)";
    append_score(json, points[i].score);
    json += '}';
  }
  json += "]}";
}

}  // namespace ridgeline::stream
