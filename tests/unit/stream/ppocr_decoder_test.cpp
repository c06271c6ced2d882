// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "stream/decoders/rotated_rectangle.hpp"
#include "unit/stream/made_outputs.hpp"

namespace ridgeline::stream {
namespace {

MadeOutput text_map(int width, int height) { return {"map", {1, height, width}, 0.0F}; }

/// Pixels whose centre lies in the rectangle.
void paint(MadeOutput& map, const RotatedRectangle& rectangle, float value) {
  const auto width = map.dims[2];
  for (std::int64_t y = 0; y < map.dims[1]; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const double dx = static_cast<double>(x) - rectangle.centre.x;
      const double dy = static_cast<double>(y) - rectangle.centre.y;
      if (std::abs(dx * rectangle.axis.x + dy * rectangle.axis.y) <= rectangle.width / 2 &&
          std::abs(dy * rectangle.axis.x - dx * rectangle.axis.y) <= rectangle.height / 2)
        map.values[static_cast<std::size_t>(y * width + x)] = value;
    }
}

/// The largest distance between corners in the same place.
double corner_error(const base::Json& box, const RotatedRectangle& expected) {
  const auto corners = expected.corners();
  double worst = 0;
  for (const auto& corner : corners) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const auto& point : box["points"])
      nearest = std::min(nearest, std::hypot(point[0].get<double>() - corner.x, point[1].get<double>() - corner.y));
    worst = std::max(worst, nearest);
  }
  return worst;
}

TEST(PpocrDecoder, grows_a_box_by_area_times_ratio_through_perimeter) {
  auto map = text_map(320, 160);
  paint(map, {{100, 60}, {1, 0}, 80, 20}, 0.8F);
  const auto json = decode_outputs("ppocr", {}, {map}, same_geometry(320, 160)).value();
  // 80 * 20 * 1.5 / 200 = 12 on each side.
  EXPECT_EQ(json.dump(), R"({"boxes":[{"points":[[48.0,38.0],[152.0,38.0],[152.0,82.0],[48.0,82.0]],"score":0.8}]})");
}

TEST(PpocrDecoder, maps_to_the_frame_and_cuts_there) {
  auto map = text_map(160, 160);
  paint(map, {{140, 60}, {1, 0}, 38, 20}, 1.0F);
  FrameGeometry geometry = same_geometry(320, 320);  // the map has half of the input's sides
  geometry.frame_width = 640;
  geometry.frame_height = 320;
  geometry.scale_x = geometry.scale_y = 0.5;
  geometry.offset_y = 80;
  const auto json = decode_outputs("ppocr", {}, {map}, geometry).value();
  const auto points = json["boxes"][0]["points"];
  EXPECT_EQ(points[1][0], 640.0);
  const double distance = 38 * 20 * 1.5 / 116;
  EXPECT_NEAR(points[0][0].get<double>(), (121 - distance) * 4, 0.06);
  EXPECT_NEAR(points[0][1].get<double>(), ((50 - distance) * 2 - 80) * 2, 0.06);
}

TEST(PpocrDecoder, finds_rotated_boxes_within_about_a_pixel) {
  base::Random random(11);
  for (int round = 0; round < 60; ++round) {
    auto map = text_map(400, 300);
    const double angle = random.uniform() * std::numbers::pi;
    const RotatedRectangle painted{{150 + random.uniform() * 100, 120 + random.uniform() * 60},
                                   {std::cos(angle), std::sin(angle)},
                                   60 + random.uniform() * 60,
                                   12 + random.uniform() * 30};
    paint(map, painted, 0.9F);
    DecoderOptions options;
    options.unclip_ratio = 0.4;  // small enough that the frame does not cut the box
    const auto json = decode_outputs("ppocr", options, {map}, same_geometry(400, 300)).value();
    ASSERT_EQ(json["boxes"].size(), 1U);
    const double area = painted.width * painted.height;
    const auto expected = painted.grown(area * 0.4 / (2 * (painted.width + painted.height)));
    EXPECT_LT(corner_error(json["boxes"][0], expected), 1.25) << "angle " << angle;
  }
}

TEST(PpocrDecoder, leaves_out_small_faint_and_uncertain_regions) {
  auto map = text_map(320, 160);
  paint(map, {{50, 50}, {1, 0}, 30, 2}, 0.9F);     // two pixels high between the centres
  paint(map, {{50, 100}, {1, 0}, 30, 20}, 0.3F);   // not above the threshold of a pixel
  paint(map, {{150, 100}, {1, 0}, 30, 20}, 0.5F);  // not above that of a box
  EXPECT_EQ(decode_outputs("ppocr", {}, {map}, same_geometry(320, 160)).value().dump(), R"({"boxes":[]})");
  DecoderOptions options;
  options.score_threshold = 0.4;
  EXPECT_EQ(decode_outputs("ppocr", options, {map}, same_geometry(320, 160)).value()["boxes"].size(), 1U);
}

TEST(PpocrDecoder, is_one_decoder_for_maps_of_any_size) {
  const auto decoder = make_decoder("ppocr", {}, std::vector<OutputShape>{{"map", {1, -1, -1}}}, -1, -1).value();
  for (const int width : {64, 320, 32}) {
    auto map = text_map(width, 64);
    paint(map, {{16, 32}, {1, 0}, 20, 20}, 0.9F);
    const std::vector<MadeOutput> outputs{map};
    std::string json;
    ASSERT_TRUE(decoder->decode(views_of(outputs), same_geometry(width, 64), json));
    ASSERT_EQ(decoder->boxes().size(), 1U);
    EXPECT_FLOAT_EQ(decoder->boxes()[0].top, 14.5F);
    EXPECT_EQ(decoder->boxes()[0].label, -1);
  }
}

TEST(PpocrDecoder, names_a_nan_and_other_shapes) {
  auto map = text_map(64, 32);
  map.values[70] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(decode_outputs("ppocr", {}, {map}, same_geometry(64, 32)).error().message,
            "output map of 1x32x64 has a NaN at value 70");
  EXPECT_EQ(decode_outputs("ppocr", {}, {{"map", {2, 32, 64}}}, same_geometry(64, 32)).error().message,
            "decoder ppocr: map of 2x32x64: expected one map of 1xHxW");
  map.values.resize(9);
  EXPECT_EQ(decode_outputs("ppocr", {}, {map}, same_geometry(64, 32)).error().message,
            "output map of 1x32x64 has 9 values");
}

TEST(PpocrDecoder, stands_noise_of_any_density) {
  base::Random random(17);
  for (const double share : {0.01, 0.2, 0.5, 0.9, 1.0}) {
    auto map = text_map(200, 150);
    for (auto& value : map.values) value = random.uniform() < share ? static_cast<float>(random.uniform()) : 0.0F;
    const auto json = decode_outputs("ppocr", {}, {map}, same_geometry(200, 150)).value();
    for (const auto& box : json["boxes"])
      for (const auto& point : box["points"]) {
        EXPECT_GE(point[0], 0.0);
        EXPECT_LE(point[0], 200.0);
        EXPECT_LE(point[1], 150.0);
      }
  }
}

}  // namespace
}  // namespace ridgeline::stream
