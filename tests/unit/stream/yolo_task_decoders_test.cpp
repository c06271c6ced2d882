// SPDX-License-Identifier: Apache-2.0
// The decoders yolox, yolo-nas, pose and obb, and what all box decoders choose from.
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "unit/stream/made_outputs.hpp"

namespace ridgeline::stream {
namespace {

/// A frame of 1280x720 in the middle of an input of 640x640.
FrameGeometry letterboxed() {
  auto geometry = same_geometry(640, 640);
  geometry.frame_width = 1280;
  geometry.frame_height = 720;
  geometry.scale_x = geometry.scale_y = 0.5;
  geometry.offset_y = 140;
  return geometry;
}

std::vector<float> pose_beside(std::size_t count, std::size_t values) {
  std::vector<float> out;
  for (std::size_t k = 0; k < count; ++k) {
    out.push_back(static_cast<float>(300 + k));
    out.push_back(static_cast<float>(300 + 2 * k));
    if (values > 2) out.push_back(0.5F);
  }
  return out;
}

TEST(YoloxDecoder, decodes_the_grid) {
  MadeOutput output("output", {8400, 8});
  set_row(output, 40 * 80 + 40, {0, 0, std::log(100.0F / 8), std::log(50.0F / 8), 0.95F, 0, 0, 0.9F});
  set_row(output, 6400 + 2 * 40 + 3, {0.5F, 0.25F, 0, 0, 0.5F, 0.8F, 0, 0});
  set_row(output, 8399, {0.5F, 0.5F, 0, 0, 0.5F, 0, 0.6F, 0});
  const auto json = decode_outputs("yolox", {}, {output}, same_geometry(640, 640)).value();
  EXPECT_EQ(json.dump(), R"({"boxes":[{"box":[270.0,295.0,370.0,345.0],"class":2,"score":0.855},)"
                         R"({"box":[48.0,28.0,64.0,44.0],"class":0,"score":0.4},)"
                         R"({"box":[608.0,608.0,640.0,640.0],"class":1,"score":0.3}]})");
}

TEST(YoloxDecoder, refuses_what_is_decoded_and_other_sizes) {
  MadeOutput output("output", {8400, 8});
  set_row(output, 3, {320, 320, 100, 50, 0.95F, 0, 0.9F, 0});
  EXPECT_EQ(mismatch_of("yolox", {}, {output}, same_geometry(640, 640)),
            "a value of 320; expected offsets within the grid and logarithms of sides");
  EXPECT_EQ(decode_outputs("yolox", {}, {output}, same_geometry(320, 320)).error().message,
            "decoder yolox: output of 8400x8: expected 2100x(5+classes)");
  DecoderOptions options;
  options.labels = {"a", "b"};
  EXPECT_EQ(decode_outputs("yolox", options, {output}, same_geometry(640, 640)).error().message,
            "decoder yolox: output of 8400x8: expected 8400x(5+2 labels)");
}

TEST(YoloDecoder, refuses_the_grid_of_yolox) {
  MadeOutput output("output", {8400, 8});
  set_row(output, 40 * 80 + 40, {0, 0, std::log(100.0F / 8), std::log(50.0F / 8), 0.95F, 0, 0, 0.9F});
  EXPECT_EQ(mismatch_of("yolo", {}, {output}, same_geometry(640, 640)),
            "values within a grid (YOLOX); expected pixels of the input");
}

TEST(PoseDecoder, has_keypoints_with_each_box) {
  MadeOutput output("output0", {5 + 6, 8400});
  std::vector<float> values{320, 320, 100, 200, 0.9F};
  const auto beside = pose_beside(2, 3);
  values.insert(values.end(), beside.begin(), beside.end());
  set_column(output, 7, values);
  const auto json = decode_outputs("pose", {}, {output}, letterboxed()).value();
  EXPECT_EQ(json.dump(), R"({"boxes":[{"box":[540.0,160.0,740.0,560.0],"class":0,"keypoints":[)"
                         R"({"point":[600.0,320.0],"score":0.5},{"point":[602.0,324.0],"score":0.5}],"score":0.9}]})");
}

TEST(PoseDecoder, takes_final_poses_and_keypoints_without_scores) {
  MadeOutput output("output0", {300, 6 + 6});
  std::vector<float> values{270, 295, 370, 345, 0.9F, 0};
  const auto three = pose_beside(2, 3);
  values.insert(values.end(), three.begin(), three.end());
  set_row(output, 5, values);
  auto json = decode_outputs("pose", {}, {output}, same_geometry(640, 640)).value();
  EXPECT_EQ(json["boxes"][0]["keypoints"][1]["point"].dump(), "[301.0,302.0]");
  DecoderOptions options;
  options.keypoints = {3, 2};
  MadeOutput pairs("output0", {5 + 6, 8400});
  values = {320, 320, 100, 200, 0.9F};
  const auto two = pose_beside(3, 2);
  values.insert(values.end(), two.begin(), two.end());
  set_column(pairs, 7, values);
  json = decode_outputs("pose", options, {pairs}, same_geometry(640, 640)).value();
  EXPECT_EQ(json["boxes"][0]["keypoints"][2].dump(), R"({"point":[302.0,304.0]})");
}

TEST(PoseDecoder, refuses_what_are_no_keypoints) {
  const auto geometry = same_geometry(640, 640);
  MadeOutput output("output0", {5 + 3, 8400});
  set_column(output, 7, {320, 320, 100, 200, 0.9F, 5000, 10, 0.5F});
  EXPECT_EQ(mismatch_of("pose", {}, {output}, geometry), "a keypoint at 5000; expected pixels of the input");
  set_column(output, 7, {320, 320, 100, 200, 0.9F, 300, 10, 7});
  EXPECT_EQ(mismatch_of("pose", {}, {output}, geometry), "keypoints: a score of 7; expected 0 to 1");
  EXPECT_EQ(
      decode_outputs("pose", {}, {MadeOutput("o", {84, 8400})}, geometry).error().message,
      "decoder pose: o of 84x8400: expected (4+classes+keypoints)xN or Nx(6+keypoints) with any number of classes");
}

TEST(ObbDecoder, has_quadrangles_and_suppresses_turned_ones) {
  const auto quarter = std::numbers::pi_v<float> / 2;
  MadeOutput output("output0", {4 + 2 + 1, 8400});
  set_column(output, 0, {320, 320, 100, 50, 0, 0.9F, quarter});
  set_column(output, 1, {320, 321, 50, 100, 0, 0.8F, 0});        // the same place
  set_column(output, 2, {320, 320, 100, 50, 0, 0.7F, 0});        // across it: a third is common
  set_column(output, 3, {321, 320, 100, 50, 0.6F, 0, quarter});  // another class
  const auto json = decode_outputs("obb", {}, {output}, same_geometry(640, 640)).value();
  EXPECT_EQ(json.dump(),
            R"({"boxes":[{"class":1,"points":[[295.0,270.0],[345.0,270.0],[345.0,370.0],[295.0,370.0]],"score":0.9},)"
            R"({"class":1,"points":[[270.0,295.0],[370.0,295.0],[370.0,345.0],[270.0,345.0]],"score":0.7},)"
            R"({"class":0,"points":[[296.0,270.0],[346.0,270.0],[346.0,370.0],[296.0,370.0]],"score":0.6}]})");
}

TEST(ObbDecoder, gives_boxes_and_quads_of_the_frame) {
  MadeOutput output("output0", {300, 7});
  set_row(output, 9, {320, 320, 100, 50, 0.9F, 3, 0});
  const std::vector<MadeOutput> outputs{output};
  const auto views = views_of(outputs);
  const auto decoder = make_decoder("obb", {}, shapes_of(views), 640, 640).value();
  std::string json;
  ASSERT_TRUE(decoder->decode(views, letterboxed(), json));
  ASSERT_EQ(decoder->boxes().size(), 1U);
  ASSERT_EQ(decoder->quads().size(), 1U);
  EXPECT_EQ(decoder->boxes()[0].left, 540);
  EXPECT_EQ(decoder->boxes()[0].bottom, 410);
  EXPECT_EQ(decoder->quads()[0][0], (Point{540, 310}));
  EXPECT_EQ(decoder->quads()[0][2], (Point{740, 410}));
}

TEST(ObbDecoder, refuses_what_is_no_angle) {
  MadeOutput output("output0", {4 + 2 + 1, 8400});
  set_column(output, 0, {320, 320, 100, 50, 0, 0.9F, 9});
  EXPECT_EQ(mismatch_of("obb", {}, {output}, same_geometry(640, 640)), "an angle of 9; expected -pi/2 to pi");
}

TEST(YoloNasDecoder, suppresses_within_a_class) {
  MadeOutput boxes("pred_bboxes", {8400, 4});
  MadeOutput scores("pred_scores", {8400, 3});
  set_row(boxes, 0, {270, 295, 370, 345});
  set_row(scores, 0, {0, 0, 0.9F});
  set_row(boxes, 5, {271, 295, 370, 345});
  set_row(scores, 5, {0, 0, 0.8F});
  set_row(boxes, 6, {271, 295, 370, 345});
  set_row(scores, 6, {0.5F, 0, 0.1F});
  const auto* const expected = R"({"boxes":[{"box":[270.0,295.0,370.0,345.0],"class":2,"score":0.9},)"
                               R"({"box":[271.0,295.0,370.0,345.0],"class":0,"score":0.5}]})";
  const auto geometry = same_geometry(640, 640);
  EXPECT_EQ(decode_outputs("yolo-nas", {}, {boxes, scores}, geometry).value().dump(), expected);
  EXPECT_EQ(decode_outputs("yolo-nas", {}, {scores, boxes}, geometry).value().dump(), expected);
  set_row(boxes, 7, {0.1F, 0.2F, 0.3F, 0.1F});
  EXPECT_EQ(mismatch_of("yolo-nas", {}, {boxes, scores}, geometry),
            "a box of 0.1,0.2,0.3,0.1; expected corners in order");
  EXPECT_EQ(decode_outputs("yolo-nas", {}, {MadeOutput("x", {3})}, geometry).error().message,
            "decoder yolo-nas: x of 3: expected boxes of Nx4 and scores of NxC");
}

TEST(BoxDecoder, keeps_the_classes_that_were_asked_for) {
  MadeOutput output("output0", {300, 6});
  for (std::size_t i = 0; i < 4; ++i) set_row(output, i, {10, 20, 30, 40, 0.9F, static_cast<float>(i)});
  DecoderOptions options;
  options.classes = {1, 3};
  const auto json = decode_outputs("yolo", options, {output}, same_geometry(640, 640)).value();
  ASSERT_EQ(json["boxes"].size(), 2U);
  EXPECT_EQ(json["boxes"][0]["class"], 1);
  EXPECT_EQ(json["boxes"][1]["class"], 3);
  EXPECT_EQ(decode_outputs("none", options, {output}, same_geometry(640, 640)).error().message,
            "classes: decoder none has no boxes with classes to choose from");
}

TEST(BoxDecoder, refuses_boxes_that_cannot_be) {
  const auto geometry = same_geometry(640, 640);
  EXPECT_EQ(mismatch_of("yolo", {}, {MadeOutput("o", {56, 8400}, 332.0F)}, geometry),
            "a score of 332; expected 0 to 1");
  MadeOutput output("output0", {300, 6});
  set_row(output, 0, {270, 295, 370, 345, 0.9F, 1.5F});
  EXPECT_EQ(mismatch_of("yolo", {}, {output}, geometry), "a class of 1.5; expected a whole number");
  set_row(output, 0, {0.2F, 0.2F, 0.5F, 0.5F, 0.9F, 1});
  EXPECT_EQ(mismatch_of("yolo", {}, {output}, geometry), "no box has a side of 2 pixels");
  set_row(output, 0, {370, 295, 270, 345, 0.9F, 1});
  EXPECT_EQ(decode_outputs("yolo", {}, {output}, geometry).error().message,
            "decoder yolo: a box of 370,295,270,345: expected corners in order");
}

}  // namespace
}  // namespace ridgeline::stream
