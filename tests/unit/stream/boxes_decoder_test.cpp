// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/boxes_decoder.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "unit/stream/made_outputs.hpp"

namespace ridgeline::stream {
namespace {

constexpr auto* kFound = R"({"boxes":[{"box":[270.0,295.0,370.0,345.0],"class":2,"score":0.9}]})";

MadeOutput table(const std::string& name, std::vector<std::int64_t> dims, const std::vector<float>& row) {
  MadeOutput output(name, std::move(dims));
  set_row(output, 0, row);
  return output;
}

MadeOutput vector_of(const std::string& name, std::vector<std::int64_t> dims, float first) {
  MadeOutput output(name, std::move(dims));
  output.values[0] = first;
  return output;
}

std::vector<MadeOutput> efficient_nms(float count) {
  return {vector_of("num_dets", {1}, count), table("det_boxes", {10, 4}, {270, 295, 370, 345}),
          vector_of("det_scores", {10}, 0.9F), vector_of("det_classes", {10}, 2)};
}

TEST(BoxesDecoder, reads_every_form) {
  const auto geometry = same_geometry(640, 640);
  const std::vector<std::vector<MadeOutput>> forms{
      efficient_nms(1),
      {table("dets", {10, 5}, {270, 295, 370, 345, 0.9F}), vector_of("labels", {10}, 2)},
      {table("dets", {10, 5}, {270, 295, 370, 345, 0.9F}), vector_of("labels", {10}, 2),
       MadeOutput("masks", {10, 28, 28})},
      {table("o", {1, 7}, {0, 270, 295, 370, 345, 2, 0.9F})},
      {table("o", {7}, {0, 270, 295, 370, 345, 2, 0.9F})},
      {table("o", {1, 7}, {0, 270, 295, 370, 345, 0.9F, 2})},
      {table("o", {6}, {2, 0.9F, 270, 295, 370, 345}), vector_of("count", {}, 1)},
      {table("boxes", {4}, {270, 295, 370, 345}), vector_of("labels", {}, 2), vector_of("scores", {}, 0.9F)},
      {table("boxes", {4}, {270, 295, 370, 345}), vector_of("scores", {}, 0.9F), vector_of("labels", {}, 2),
       MadeOutput("masks", {1, 640, 640})}};
  for (std::size_t i = 0; i < forms.size(); ++i) {
    const auto json = decode_outputs("boxes", {}, forms[i], geometry);
    ASSERT_TRUE(json) << i << ": " << json.error().message;
    EXPECT_EQ(json->dump(), kFound) << i;
    EXPECT_EQ(mismatch_of("boxes", {}, forms[i], geometry), "") << i;
  }
}

TEST(BoxesDecoder, takes_as_many_as_the_model_counts) {
  EXPECT_EQ(decode_outputs("boxes", {}, efficient_nms(0), same_geometry(640, 640)).value()["boxes"].size(), 0U);
  EXPECT_EQ(decode_outputs("boxes", {}, efficient_nms(11), same_geometry(640, 640)).error().message,
            "decoder boxes: a number of boxes of 11: expected 0 to 10");
}

TEST(BoxesDecoder, refuses_what_are_no_boxes) {
  const auto geometry = same_geometry(640, 640);
  auto outputs = efficient_nms(1);
  outputs[3].values[0] = 1.5F;
  EXPECT_EQ(mismatch_of("boxes", {}, outputs, geometry), "a class of 1.5; expected a whole number");
  outputs = efficient_nms(1);
  outputs[2].values[0] = 9;
  EXPECT_EQ(mismatch_of("boxes", {}, outputs, geometry), "a score of 9; expected 0 to 1");
  outputs = efficient_nms(1);
  set_row(outputs[1], 0, {370, 295, 270, 345});
  EXPECT_EQ(mismatch_of("boxes", {}, outputs, geometry), "a box of 370,295,270,345; expected corners in order");
  EXPECT_EQ(decode_outputs("boxes", {}, outputs, geometry).error().message,
            "decoder boxes: a box of 370,295,270,345: expected corners in order");
  set_row(outputs[1], 0, {2700, 2950, 3700, 3450});
  EXPECT_EQ(mismatch_of("boxes", {}, outputs, geometry),
            "a box of 2700,2950,3700,3450; expected pixels of an input of 640x640");
  EXPECT_EQ(
      decode_outputs("boxes", {}, {MadeOutput("x", {3})}, geometry).error().message,
      "decoder boxes: x of 3: expected boxes (Nx4), scores and classes; Nx5 and classes; Nx7; or Nx6 and a number");
}

TEST(BoxesDecoder, knows_outputs_without_a_batch) {
  const std::vector<OutputShape> one_picture{{"boxes", {4}}, {"labels", {}}, {"scores", {}}};
  EXPECT_TRUE(find_boxes_outputs(one_picture)->is_unbatched);
  const std::vector<OutputShape> batched{{"n", {1}}, {"boxes", {100, 4}}, {"scores", {100}}, {"classes", {100}}};
  EXPECT_FALSE(find_boxes_outputs(batched)->is_unbatched);
}

}  // namespace
}  // namespace ridgeline::stream
