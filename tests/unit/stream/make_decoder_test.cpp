// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/make_decoder.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/stream/made_outputs.hpp"

namespace ridgeline::stream {
namespace {

TEST(MakeDecoder, stands_any_shape) {
  const std::vector<std::int64_t> sizes{-1, 0, 1, 4, 6, 7, std::numeric_limits<std::int64_t>::max()};
  std::vector<std::vector<std::int64_t>> shapes{{}};
  for (const auto a : sizes) {
    shapes.push_back({a});
    for (const auto b : sizes) {
      shapes.push_back({a, b});
      for (const auto c : sizes) shapes.push_back({a, b, c});
    }
  }
  const std::vector<float> values(4 * 6 * 7 * 7, 0.5F);
  const auto values_of = [&](const std::vector<std::int64_t>& dims) {
    std::uint64_t count = 1;
    for (const auto dim : dims)
      count = std::min<std::uint64_t>(count * static_cast<std::uint64_t>(std::clamp<std::int64_t>(dim, 0, 9999)), 9999);
    return std::span(values).first(std::min<std::size_t>(count, values.size()));
  };
  for (const auto& first : shapes)
    for (const auto& second : {std::vector<std::int64_t>{},
                               {4},
                               {4, 4},
                               {-1, 4},
                               {6, 7},
                               {0, 4},
                               {std::numeric_limits<std::int64_t>::max(), 4, 4}}) {
      const std::vector<OutputShape> outputs{{"a", first}, {"b", second}};
      for (const auto name : kDecoderNames)
        for (const std::size_t count : {1U, 2U}) {
          const auto used = std::span(outputs).first(count);
          const auto decoder = make_decoder(name, {}, used, -1, 64);
          if (!decoder) continue;
          std::vector<OutputView> views;
          for (const auto& output : used) views.push_back({output.name, output.dims, values_of(output.dims)});
          std::string json;
          (void)(*decoder)->decode(views, same_geometry(64, 64), json);
          (void)(*decoder)->mismatch(views, same_geometry(64, 64), false);
          (void)recognize_decoder({}, used, views, same_geometry(64, 64));
        }
    }
}

TEST(MakeDecoder, names_what_is_wrong) {
  const std::vector<OutputShape> outputs{{"o", {84, 8400}}};
  EXPECT_EQ(
      make_decoder("yolov8", {}, outputs, 640, 640).error().message,
      "decoder yolov8: expected one of auto, ppocr, yolo, yolox, yolo-nas, pose, obb, detr, boxes, simcc, heatmap, "
      "classify, ctc, none");
  DecoderOptions options;
  options.score_threshold = 1.5;
  EXPECT_EQ(make_decoder("yolo", options, outputs, 640, 640).error().message, "score_threshold 1.5 is outside 0..1");
  options = {};
  options.max_boxes = 0;
  EXPECT_EQ(make_decoder("yolo", options, outputs, 640, 640).error().message, "max_boxes 0 is outside 1..10000");
}

TEST(SummaryDecoder, tells_names_shapes_and_ranges) {
  MadeOutput numbers("x\"", {3, 5});
  for (std::size_t i = 0; i < 15; ++i) numbers.values[i] = static_cast<float>(i);
  MadeOutput damaged("y", {2}, std::numeric_limits<float>::quiet_NaN());
  MadeOutput half("z", {2}, std::vector<float>{std::numeric_limits<float>::infinity(), -2});
  EXPECT_EQ(
      decode_outputs("none", {}, {numbers, damaged, half, MadeOutput("e", {0, 6})}, same_geometry(9, 9)).value().dump(),
      R"({"outputs":[{"max":14,"mean":7,"min":0,"name":"x\"","shape":[3,5]},)"
      R"({"name":"y","not_finite":2,"shape":[2]},)"
      R"({"max":-2,"mean":-2,"min":-2,"name":"z","not_finite":1,"shape":[2]},)"
      R"({"name":"e","shape":[0,6]}]})");
}

}  // namespace
}  // namespace ridgeline::stream
