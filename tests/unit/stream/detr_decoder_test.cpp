// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "unit/stream/made_outputs.hpp"

namespace ridgeline::stream {
namespace {

std::vector<MadeOutput> detr_outputs(std::int64_t classes) {
  MadeOutput logits("logits", {10, classes}, -8.0F);
  MadeOutput boxes("pred_boxes", {10, 4}, 0.1F);
  const std::vector<float> box{0.5F, 0.25F, 0.2F, 0.1F};
  std::copy(box.begin(), box.end(), boxes.values.begin() + 12);
  return {logits, boxes};
}

TEST(DetrDecoder, sigmoid_of_each_class) {
  auto outputs = detr_outputs(80);
  outputs[0].values[3 * 80 + 17] = 2;
  outputs[0].values[3 * 80 + 18] = -0.1F;
  const auto json = decode_outputs("detr", {}, outputs, same_geometry(640, 400)).value();
  EXPECT_EQ(json.dump(), R"({"boxes":[{"box":[256.0,80.0,384.0,120.0],"class":17,"score":0.8808}]})");
}

TEST(DetrDecoder, softmax_with_no_object_last) {
  DecoderOptions options;
  options.labels = {"cat", "dog"};
  auto outputs = detr_outputs(3);
  for (std::size_t q = 0; q < 10; ++q) outputs[0].values[3 * q + 2] = 5;
  outputs[0].values[9] = -8;
  outputs[0].values[10] = 7;
  const auto json = decode_outputs("detr", options, outputs, same_geometry(640, 400)).value();
  EXPECT_EQ(json.dump(), R"({"boxes":[{"box":[256.0,80.0,384.0,120.0],"class":1,"label":"dog","score":0.8808}]})");
  options.detr_scores = DetrScores::sigmoid;
  EXPECT_EQ(decode_outputs("detr", options, outputs, same_geometry(640, 400)).value()["boxes"].size(), 11U);
}

TEST(DetrDecoder, coco_with_no_object_is_recognized_without_labels) {
  auto outputs = detr_outputs(92);
  for (std::size_t q = 0; q < 10; ++q) outputs[0].values[92 * q + 91] = 5;
  EXPECT_EQ(decode_outputs("detr", {}, outputs, same_geometry(640, 400)).value()["boxes"].size(), 0U);
}

TEST(DetrDecoder, labels_boxes_and_scores_in_any_order) {
  MadeOutput labels("labels", {3}, {2, 0, 1});
  MadeOutput boxes("boxes", {3, 4}, {1, 2, 3, 4, 10, 20, 30, 40, 50, 60, 70, 80});
  MadeOutput scores("scores", {3}, {0.6F, 0.9F, 0.2F});
  const auto* const expected =
      R"({"boxes":[{"box":[10.0,20.0,30.0,40.0],"class":0,"score":0.9},{"box":[1.0,2.0,3.0,4.0],"class":2,"score":0.6}]})";
  EXPECT_EQ(decode_outputs("detr", {}, {labels, boxes, scores}, same_geometry(640, 640)).value().dump(), expected);
  EXPECT_EQ(decode_outputs("detr", {}, {scores, labels, boxes}, same_geometry(640, 640)).value().dump(), expected);
  EXPECT_EQ(decode_outputs("auto", {}, {boxes, labels, scores}, same_geometry(640, 640)).value().dump(), expected);
}

TEST(DetrDecoder, boxes_and_scores_in_one_output) {
  MadeOutput output("output0", {300, 7});
  set_row(output, 4, {0.5F, 0.25F, 0.2F, 0.1F, 0.1F, 0.9F, 0.2F});
  const auto json = decode_outputs("detr", {}, {output}, same_geometry(640, 400)).value();
  EXPECT_EQ(json.dump(), R"({"boxes":[{"box":[256.0,80.0,384.0,120.0],"class":1,"score":0.9}]})");
  DecoderOptions options;
  options.labels = {"cat", "dog"};
  EXPECT_EQ(decode_outputs("detr", options, {output}, same_geometry(640, 400)).error().message,
            "decoder detr: output0 of 300x7: expected 2 classes as there are labels");
  output.values[1] = 300;
  EXPECT_EQ(mismatch_of("detr", {}, {output}, same_geometry(640, 400)),
            "boxes from 0 to 300; expected centres and sizes from 0 to 1");
}

TEST(DetrDecoder, scores_need_no_sigmoid) {
  auto outputs = detr_outputs(80);
  std::fill(outputs[0].values.begin(), outputs[0].values.end(), 0.01F);
  outputs[0].values[3 * 80 + 17] = 0.75F;
  const auto json = decode_outputs("detr", {}, outputs, same_geometry(640, 400)).value();
  EXPECT_EQ(json.dump(), R"({"boxes":[{"box":[256.0,80.0,384.0,120.0],"class":17,"score":0.75}]})");
}

TEST(DetrDecoder, refuses_other_shapes_and_values) {
  const auto geometry = same_geometry(640, 640);
  EXPECT_EQ(decode_outputs("detr", {}, {MadeOutput("x", {10, 5}), MadeOutput("y", {9, 4})}, geometry).error().message,
            "decoder detr: x of 10x5, y of 9x4: expected logits of QxC and boxes of Qx4, both in one, or labels, boxes "
            "and scores");
  auto outputs = detr_outputs(80);
  outputs[1].values[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(decode_outputs("detr", {}, outputs, geometry));
  outputs = detr_outputs(80);
  outputs[0].values[0] = 9;
  outputs[1].values[0] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(decode_outputs("detr", {}, outputs, geometry));
  DecoderOptions options;
  options.labels = {"cat"};
  EXPECT_EQ(decode_outputs("detr", options, detr_outputs(80), geometry).error().message,
            "decoder detr: logits of 10x80, pred_boxes of 10x4: expected 1 classes as there are labels, or one more");
}

}  // namespace
}  // namespace ridgeline::stream
