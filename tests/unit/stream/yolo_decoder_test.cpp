// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "stream/decoders/non_max_suppression.hpp"
#include "unit/stream/made_outputs.hpp"

namespace ridgeline::stream {
namespace {

/// Boxes as centre and size, score, class.
struct MadeBox {
  float x, y, width, height, score;
  int label;
};

const std::vector<MadeBox>& three_boxes() {
  static const std::vector<MadeBox> boxes{
      {100, 80, 40, 20, 0.9F, 1}, {102, 81, 40, 20, 0.8F, 1}, {100, 80, 40, 20, 0.7F, 0}};
  return boxes;
}

MadeOutput in_columns(const std::vector<MadeBox>& boxes, std::int64_t classes, std::int64_t count) {
  MadeOutput output("output0", {4 + classes, count});
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const auto set = [&](int row, float value) {
      output.values[static_cast<std::size_t>(row) * static_cast<std::size_t>(count) + i] = value;
    };
    set(0, boxes[i].x);
    set(1, boxes[i].y);
    set(2, boxes[i].width);
    set(3, boxes[i].height);
    set(4 + boxes[i].label, boxes[i].score);
  }
  return output;
}

MadeOutput in_rows(const std::vector<MadeBox>& boxes, std::int64_t classes, std::int64_t count, bool has_objectness) {
  const auto channels = static_cast<std::size_t>(classes) + (has_objectness ? 5 : 4);
  MadeOutput output("output0", {count, static_cast<std::int64_t>(channels)});
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    float* row = output.values.data() + i * channels;
    row[0] = boxes[i].x;
    row[1] = boxes[i].y;
    row[2] = boxes[i].width;
    row[3] = boxes[i].height;
    if (has_objectness) row[4] = boxes[i].score;
    row[(has_objectness ? 5 : 4) + boxes[i].label] = has_objectness ? 1.0F : boxes[i].score;
  }
  return output;
}

constexpr auto* kThreeBoxes = R"({"boxes":[{"box":[80.0,70.0,120.0,90.0],"class":1,"label":"b","score":0.9},)"
                              R"({"box":[80.0,70.0,120.0,90.0],"class":0,"label":"a","score":0.7}]})";

TEST(YoloDecoder, reads_all_layouts_and_suppresses_within_a_class) {
  DecoderOptions options;
  options.labels = {"a", "b", "c"};
  const auto geometry = same_geometry(640, 640);
  EXPECT_EQ(decode_outputs("yolo", options, {in_columns(three_boxes(), 3, 8400)}, geometry).value().dump(),
            kThreeBoxes);
  EXPECT_EQ(decode_outputs("yolo", options, {in_rows(three_boxes(), 3, 25200, true)}, geometry).value().dump(),
            kThreeBoxes);
  EXPECT_EQ(decode_outputs("yolo", options, {in_rows(three_boxes(), 3, 8400, false)}, geometry).value().dump(),
            kThreeBoxes);
}

TEST(YoloDecoder, takes_final_boxes_as_they_are) {
  MadeOutput output("output0", {300, 6});
  const std::vector<float> boxes{10, 20, 30, 40, 0.5F, 2, 10, 20, 30, 40, 0.75F, 2, 5, 5, 9, 9, 0.1F, 0};
  std::copy(boxes.begin(), boxes.end(), output.values.begin());
  EXPECT_EQ(decode_outputs("yolo", {}, {output}, same_geometry(640, 640)).value().dump(),
            R"({"boxes":[{"box":[10.0,20.0,30.0,40.0],"class":2,"score":0.75},)"
            R"({"box":[10.0,20.0,30.0,40.0],"class":2,"score":0.5}]})");
  output.values[5] = -3;
  EXPECT_EQ(decode_outputs("yolo", {}, {output}, same_geometry(640, 640)).error().message,
            "decoder yolo: class -3: expected a number from 0");
}

TEST(YoloDecoder, has_nothing_of_the_frame_before_an_error) {
  std::vector<MadeOutput> outputs{in_columns(three_boxes(), 3, 8400)};
  const auto decoder = make_decoder("yolo", {}, shapes_of(views_of(outputs)), 640, 640).value();
  std::string json;
  ASSERT_TRUE(decoder->decode(views_of(outputs), same_geometry(640, 640), json));
  EXPECT_EQ(decoder->boxes().size(), 2U);
  const auto before = json;
  outputs[0].values[0] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(decoder->decode(views_of(outputs), same_geometry(640, 640), json));
  EXPECT_EQ(json, before);
  EXPECT_TRUE(decoder->boxes().empty());
}

TEST(YoloDecoder, leaves_out_the_channels_of_masks) {
  auto output = in_columns(three_boxes(), 3 + 32, 8400);
  std::fill(output.values.begin() + 7 * 8400, output.values.end(), 50.0F);
  const auto json =
      decode_outputs("yolo", {}, {output, MadeOutput("output1", {32, 160, 160})}, same_geometry(640, 640));
  EXPECT_EQ(json.value()["boxes"].size(), 2U);
}

TEST(YoloDecoder, moves_boxes_out_of_the_letterbox_and_cuts_them) {
  FrameGeometry geometry = same_geometry(640, 640);
  geometry.frame_width = 1280;
  geometry.frame_height = 720;
  geometry.scale_x = geometry.scale_y = 0.5;
  geometry.offset_y = 140;
  const auto output = in_columns({{600, 300, 100, 40, 0.9F, 0}}, 2, 8400);
  EXPECT_EQ(decode_outputs("yolo", {}, {output}, geometry).value()["boxes"][0]["box"].dump(),
            "[1100.0,280.0,1280.0,360.0]");
}

TEST(YoloDecoder, refuses_what_are_no_scores) {
  const auto geometry = same_geometry(640, 640);
  EXPECT_EQ(decode_outputs("yolo", {}, {in_columns({{9, 9, 9, 9, 7.5F, 1}}, 2, 8400)}, geometry).error().message,
            "decoder yolo: a score of 7.5: expected 0 to 1");
  auto output = in_columns({}, 2, 8400);
  output.values[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(decode_outputs("yolo", {}, {output}, geometry).error().message,
            "output output0 of 6x8400 has a NaN at value 3");
  DecoderOptions options;
  options.labels = {"a", "b", "c"};
  EXPECT_EQ(decode_outputs("yolo", options, {output}, geometry).error().message,
            "decoder yolo: output0 of 6x8400: expected Nx(5+classes), (4+classes)xN or Nx6 with 3 labels");
  EXPECT_FALSE(decode_outputs("yolo", {}, {MadeOutput("x", {3})}, geometry));
  EXPECT_FALSE(decode_outputs("yolo", {}, {MadeOutput("x", {5, 0})}, geometry));
}

TEST(SuppressOverlaps, keeps_the_best_and_nothing_that_overlaps_it) {
  base::Random random(23);
  for (int round = 0; round < 30; ++round) {
    std::vector<FoundBox> boxes(200);
    for (auto& box : boxes) {
      box.left = static_cast<float>(random.uniform() * 50);
      box.top = static_cast<float>(random.uniform() * 50);
      box.right = box.left + static_cast<float>(random.uniform() * 30);
      box.bottom = box.top + static_cast<float>(random.uniform() * 30);
      box.score = static_cast<float>(std::floor(random.uniform() * 50) / 50);
      box.label = static_cast<int>(random.uniform() * 3);
    }
    auto kept = boxes;
    suppress_overlaps(kept, 0.45, 1000);
    for (std::size_t i = 0; i < kept.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_GE(kept[j].score, kept[i].score);
        if (kept[i].label == kept[j].label) {
          EXPECT_LE(overlap_ratio(kept[i], kept[j]), 0.45);
        }
      }
    // Whatever is gone overlaps a kept box of its class that is at least as good.
    for (const auto& box : boxes) {
      EXPECT_TRUE(std::any_of(kept.begin(), kept.end(), [&](const FoundBox& other) {
        const bool is_same = other.left == box.left && other.score == box.score && other.label == box.label;
        return is_same || (other.label == box.label && other.score >= box.score && overlap_ratio(other, box) > 0.45);
      }));
    }
    auto few = boxes;
    suppress_overlaps(few, 0.45, 5);
    ASSERT_EQ(few.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(few[i].left, kept[i].left);
  }
}

}  // namespace
}  // namespace ridgeline::stream
