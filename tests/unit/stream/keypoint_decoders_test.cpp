// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "unit/stream/made_outputs.hpp"

namespace ridgeline::stream {
namespace {

std::vector<MadeOutput> simcc_outputs() {
  MadeOutput x("simcc_x", {2, 384});
  MadeOutput y("simcc_y", {2, 512});
  x.values[101] = 0.9F;
  y.values[301] = 0.7F;
  x.values[384 + 20] = 0.2F;
  y.values[512 + 40] = 0.3F;
  return {x, y};
}

TEST(SimccDecoder, takes_the_maxima_and_the_lower_score) {
  DecoderOptions options;
  options.labels = {"nose", "eye"};
  EXPECT_EQ(decode_outputs("simcc", options, simcc_outputs(), same_geometry(192, 256)).value().dump(),
            R"({"keypoints":[{"label":"nose","point":[50.5,150.5],"score":0.7},)"
            R"({"label":"eye","point":[10.0,20.0],"score":0.2}]})");
}

TEST(SimccDecoder, has_no_point_below_a_threshold_that_was_given) {
  DecoderOptions options;
  options.score_threshold = 0.5;
  const auto json = decode_outputs("auto", options, simcc_outputs(), same_geometry(192, 256)).value();
  EXPECT_TRUE(json["keypoints"][1]["point"].is_null());
  EXPECT_FALSE(json["keypoints"][0]["point"].is_null());
}

TEST(SimccDecoder, knows_the_columns_by_their_name) {
  auto outputs = simcc_outputs();
  std::swap(outputs[0], outputs[1]);
  EXPECT_EQ(decode_outputs("simcc", {}, outputs, same_geometry(192, 256)).value()["keypoints"][0]["point"].dump(),
            "[50.5,150.5]");
}

TEST(SimccDecoder, refuses_other_shapes) {
  EXPECT_EQ(decode_outputs("simcc", {}, {MadeOutput("x", {2, 9}), MadeOutput("y", {3, 9})}, same_geometry(9, 9))
                .error()
                .message,
            "decoder simcc: x of 2x9, y of 3x9: expected two outputs, K x columns and K x rows");
  EXPECT_FALSE(decode_outputs("simcc", {}, {MadeOutput("x", {2, 0}), MadeOutput("y", {2, 9})}, same_geometry(9, 9)));
  auto outputs = simcc_outputs();
  outputs[1].values[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(decode_outputs("simcc", {}, outputs, same_geometry(192, 256)));
}

TEST(HeatmapDecoder, moves_by_a_quarter_towards_the_higher_neighbour) {
  MadeOutput maps("heatmaps", {2, 64, 48});
  const std::size_t peak = 20 * 48 + 10;
  maps.values[peak] = 0.75F;
  maps.values[peak + 1] = 0.5F;
  maps.values[peak - 48] = 0.25F;
  maps.values[2 * 48 * 64 - 1] = 0.5F;  // a corner has no neighbours on one side
  const auto json = decode_outputs("heatmap", {}, {maps}, same_geometry(192, 256)).value();
  EXPECT_EQ(json.dump(), R"({"keypoints":[{"point":[41.0,79.0],"score":0.75},{"point":[188.0,252.0],"score":0.5}]})");
}

TEST(HeatmapDecoder, refuses_maps_of_classes) {
  const auto geometry = same_geometry(320, 320);
  MadeOutput maps("o", {3, 80, 80}, -4.0F);
  EXPECT_EQ(mismatch_of("heatmap", {}, {maps}, geometry), "heights from -4 to -4; expected about 0 to 1");
  maps = MadeOutput("o", {4, 80, 80}, 0.25F);
  EXPECT_EQ(mismatch_of("heatmap", {}, {maps}, geometry),
            "the values of each pixel add up to 1, like those of classes");
  maps = MadeOutput("o", {3, 80, 80});
  std::fill_n(maps.values.begin(), 3000, 0.8F);
  EXPECT_EQ(mismatch_of("heatmap", {}, {maps}, geometry), "its maps have regions, not peaks");
}

TEST(HeatmapDecoder, needs_a_label_for_each_keypoint) {
  DecoderOptions options;
  options.labels = {"nose"};
  EXPECT_EQ(decode_outputs("heatmap", options, {MadeOutput("o", {3, 80, 80})}, same_geometry(320, 320)).error().message,
            "decoder heatmap: o of 3x80x80: expected 1 keypoints as there are labels");
}

TEST(HeatmapDecoder, refuses_other_shapes) {
  EXPECT_EQ(decode_outputs("heatmap", {}, {MadeOutput("x", {17, 0, 4})}, same_geometry(64, 64)).error().message,
            "decoder heatmap: x of 17x0x4: expected maps of KxHxW first");
}

}  // namespace
}  // namespace ridgeline::stream
