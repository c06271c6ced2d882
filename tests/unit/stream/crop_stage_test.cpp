// SPDX-License-Identifier: Apache-2.0
#include "stream/crop_stage.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "stream/crop_results.hpp"
#include "stream/decoders/box_checks.hpp"

namespace ridgeline::stream {
namespace {

/// Pixel x, y has the value 10 x + y.
Image ramp(int width = 20, int height = 10) {
  Image image;
  image.width = width;
  image.height = height;
  image.format = PixelFormat::gray8;
  std::vector<std::uint8_t> bytes;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) bytes.push_back(static_cast<std::uint8_t>(10 * x + y));
  image.bytes = bytes;
  return image;
}

Image cut_from(const Image& image, const CropArea& area) {
  Image crop;
  cut(image, area, crop);
  return crop;
}

TEST(CropArea, of_an_upright_box_is_its_whole_pixels_within_the_frame) {
  const auto image = ramp();
  auto area = area_around(FoundBox{2.2F, 3.0F, 4.5F, 5.0F}, 0, 20, 10);
  EXPECT_EQ(area.place.origin, (Point{2, 3}));
  EXPECT_EQ(area.width, 3);
  EXPECT_EQ(area.height, 2);
  EXPECT_EQ(cut_from(image, area).bytes, (std::vector<std::uint8_t>{23, 33, 43, 24, 34, 44}));
  area = area_around(FoundBox{4, 4, 8, 8}, 0.25, 20, 10);
  EXPECT_EQ(area.place.origin, (Point{3, 3}));
  EXPECT_EQ(area.width, 6);
  area = area_around(FoundBox{-50, -50, 500, 500}, 1, 20, 10);
  EXPECT_EQ(cut_from(image, area).bytes, image.bytes);
  area = area_around(FoundBox{20, 10, 20, 10}, 0, 20, 10);
  EXPECT_EQ(cut_from(image, area).bytes, (std::vector<std::uint8_t>{199})) << "at least a pixel";
}

TEST(CropArea, of_a_turned_box_is_turned_back) {
  const auto image = ramp();
  // Upright, but given as corners: the same pixels.
  auto area = area_around(Quad{{{2, 3}, {5, 3}, {5, 5}, {2, 5}}}, 0, 20, 10);
  EXPECT_EQ(cut_from(image, area).bytes, (std::vector<std::uint8_t>{23, 33, 43, 24, 34, 44}));
  // By a quarter: its first row is the frame's column 4, from the bottom.
  area = area_around(Quad{{{4, 8}, {4, 5}, {6, 5}, {6, 8}}}, 0, 20, 10);
  EXPECT_EQ(area.width, 3);
  EXPECT_EQ(area.height, 2);
  EXPECT_EQ(cut_from(image, area).bytes, (std::vector<std::uint8_t>{47, 46, 45, 57, 56, 55}));
  // Half a pixel between.
  area = area_around(Quad{{{2.5, 3}, {4.5, 3}, {4.5, 5}, {2.5, 5}}}, 0, 20, 10);
  EXPECT_EQ(cut_from(image, area).bytes, (std::vector<std::uint8_t>{28, 38, 29, 39}));
}

TEST(CropArea, of_a_tall_line_is_turned_to_the_left) {
  const auto area = area_around(Quad{{{4, 2}, {6, 2}, {6, 6}, {4, 6}}}, 0, 20, 10);
  EXPECT_EQ(area.width, 4);
  EXPECT_EQ(area.height, 2);
  EXPECT_EQ(cut_from(ramp(), area).bytes, (std::vector<std::uint8_t>{52, 53, 54, 55, 42, 43, 44, 45}));
  FrameGeometry geometry;
  geometry.crop = area.place;
  EXPECT_EQ(geometry.to_frame(0, 0), (Point{6, 2}));
  EXPECT_EQ(geometry.to_frame(4, 2), (Point{4, 6}));
  std::vector<FoundBox> boxes{{1, 0, 3, 2, 0.5F, 7}};
  move_to_frame(boxes[0], geometry);
  EXPECT_EQ(boxes[0].left, 4);
  EXPECT_EQ(boxes[0].top, 3);
  EXPECT_EQ(boxes[0].right, 6);
  EXPECT_EQ(boxes[0].bottom, 5);
}

TEST(CropArea, outside_the_frame_is_its_edge) {
  const auto area = area_around(Quad{{{-100, -100}, {-90, -100}, {-90, -90}, {-100, -90}}}, 0, 20, 10);
  EXPECT_EQ(cut_from(ramp(), area).bytes, std::vector<std::uint8_t>(100, 0));
  const auto nothing = area_around(Quad{{{3, 3}, {3, 3}, {3, 3}, {3, 3}}}, 0, 20, 10);
  EXPECT_EQ(cut_from(ramp(), nothing).bytes.size(), 1U);
}

TEST(CropResults, go_into_the_boxes) {
  const std::string boxes = R"({"boxes":[{"box":[1,2,3,4],"label":"a \"}{\" b"},{"points":[[1,2]]},{}]})";
  EXPECT_EQ(with_crops(boxes, std::vector<std::string>{"1", R"({"x":{}})"}),
            R"({"boxes":[{"box":[1,2,3,4],"label":"a \"}{\" b","crop":1},{"points":[[1,2]],"crop":{"x":{}}},{}]})");
  EXPECT_EQ(with_crops(R"({"boxes":[]})", std::vector<std::string>{"1"}), R"({"boxes":[]})");
}

class CropStageTest : public testing::Test {
 protected:
  /// A model that tells each crop's first pixel, and keeps the sizes of its batches.
  CropStage stage(const CropOptions& options) {
    return {options, [this](std::span<const BatchFrame> crops, std::uint32_t executed, std::span<std::string> results) {
              batches_.emplace_back(crops.size(), executed);
              for (std::size_t i = 0; i < crops.size(); ++i) {
                results[i] = std::to_string(crops[i].image->bytes[0]);
                EXPECT_EQ(crops[i].crop->frame_width, crops[i].is_sample ? crops[i].image->width : 20);
              }
              return base::Result<BatchTimes>(BatchTimes{});
            }};
  }
  std::vector<std::pair<std::size_t, std::uint32_t>> batches_;
};

TEST_F(CropStageTest, boxes_of_several_frames_share_batches) {
  const auto image = ramp();
  auto crops = stage({.most = 3, .batch_size = 4, .pads = true});
  const std::vector<BatchFrame> frames(3, {.image = &image});
  const std::vector<FoundBoxes> found{{{{1, 1, 3, 3}, {2, 2, 4, 4}, {3, 3, 4, 4}, {5, 5, 6, 6}}, {}},
                                      {},
                                      {{{7, 7, 8, 8}, {8, 8, 9, 9}, {9, 1, 10, 2}}, {}}};
  std::vector<std::string> results{R"({"boxes":[{},{},{},{}]})", R"({"boxes":[]})", R"({"boxes":[{},{},{}]})"};
  ASSERT_TRUE(crops.run(frames, found, results));
  EXPECT_EQ(results[0], R"({"boxes":[{,"crop":11},{,"crop":22},{,"crop":33},{}]})") << "three at most";
  EXPECT_EQ(results[1], R"({"boxes":[]})");
  EXPECT_EQ(results[2], R"({"boxes":[{,"crop":77},{,"crop":88},{,"crop":91}]})");
  EXPECT_EQ(batches_, (std::vector<std::pair<std::size_t, std::uint32_t>>{{4, 4}, {2, 2}}));
  batches_.clear();
  ASSERT_TRUE(crops.run(std::span(frames).first(1), std::span(found).first(1), std::span(results).first(1)));
  EXPECT_EQ(batches_, (std::vector<std::pair<std::size_t, std::uint32_t>>{{3, 4}})) << "a size that is warm";
}

TEST_F(CropStageTest, warms_every_size_that_it_runs_twice_and_after_another_one) {
  auto crops = stage({.batch_size = 6});
  ASSERT_TRUE(crops.warm(ramp()));
  std::vector<std::size_t> sizes;
  for (const auto& [count, executed] : batches_) {
    EXPECT_EQ(executed, count);
    sizes.push_back(count);
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 1, 2, 2, 4, 4, 6, 6, 1, 2, 4, 6}));
}

TEST_F(CropStageTest, pads_to_the_largest_size_where_changing_is_dear) {
  std::size_t before = 0;
  std::vector<std::uint32_t> executed;
  CropStage crops({.batch_size = 4}, [&](auto frames, std::uint32_t size, auto results) -> base::Result<BatchTimes> {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::exchange(before, size) != size ? 20 : 1));
    executed.push_back(size);
    for (std::size_t i = 0; i < frames.size(); ++i) results[i] = "0";
    return BatchTimes{};
  });
  ASSERT_TRUE(crops.warm(ramp()));
  executed.clear();
  const auto image = ramp();
  const BatchFrame frame{.image = &image};
  const FoundBoxes found{{{1, 1, 3, 3}}, {}};
  std::string result = R"({"boxes":[{"score":1}]})";
  ASSERT_TRUE(crops.run({&frame, 1}, {&found, 1}, {&result, 1}));
  EXPECT_EQ(executed, std::vector<std::uint32_t>{4});
}

TEST_F(CropStageTest, takes_colours_of_a_camera) {
  Image image;
  image.width = 20;
  image.height = 10;
  image.format = PixelFormat::nv12;
  image.bytes.assign(image_bytes(20, 10, image.format), 128);
  std::fill_n(image.bytes.begin(), 200, 235);
  auto crops = stage({});
  const BatchFrame frame{.image = &image};
  const FoundBoxes found{{{1, 1, 3, 3}}, {}};
  std::string result = R"({"boxes":[{"score":1}]})";
  ASSERT_TRUE(crops.run({&frame, 1}, {&found, 1}, {&result, 1}));
  EXPECT_EQ(result, R"({"boxes":[{"score":1,"crop":255}]})");
}

TEST_F(CropStageTest, an_error_of_the_model_is_the_batchs) {
  const auto image = ramp();
  CropStage crops(
      {}, [](auto, auto, auto) -> base::Result<BatchTimes> { return base::fail(base::ErrorCode::internal, "no"); });
  const BatchFrame frame{.image = &image};
  const FoundBoxes found{{{1, 1, 3, 3}}, {}};
  std::string result = "{}";
  EXPECT_FALSE(crops.run({&frame, 1}, {&found, 1}, {&result, 1}));
}

}  // namespace
}  // namespace ridgeline::stream
