// SPDX-License-Identifier: Apache-2.0
#include "stream/canvas.hpp"

#include <gtest/gtest.h>

#include "stream/annotation.hpp"
#include "stream/bgr_picture.hpp"
#include "stream/bitmap_font.hpp"

namespace ridgeline::stream {
namespace {

constexpr Colour kInk{10, 20, 30};
constexpr Colour kPaper{200, 200, 200};

class CanvasTest : public testing::Test {
 protected:
  explicit CanvasTest(int width = 40, int height = 30) : canvas_(image_) {
    image_.width = width;
    image_.height = height;
    image_.bytes.assign(image_bytes(width, height, image_.format), 0);
  }
  [[nodiscard]] Colour at(int x, int y) const {
    const auto* pixel = image_.bytes.data() + 3 * (y * image_.width + x);
    return {pixel[0], pixel[1], pixel[2]};
  }
  /// A row of text a row of pixels.
  [[nodiscard]] std::string picture(const Colour& colour) const {
    std::string text;
    for (int y = 0; y < image_.height; ++y, text += '\n')
      for (int x = 0; x < image_.width; ++x) text += at(x, y) == colour ? '#' : '.';
    return text;
  }
  [[nodiscard]] int count(const Colour& colour) const {
    const auto text = picture(colour);
    return static_cast<int>(std::count(text.begin(), text.end(), '#'));
  }

  Image image_;
  Canvas canvas_;
};

TEST_F(CanvasTest, draws_lines_from_pixel_to_pixel) {
  canvas_.line(2, 3, 8, 3, 1, kInk);
  EXPECT_EQ(count(kInk), 7);
  EXPECT_EQ(at(2, 3), kInk);
  EXPECT_EQ(at(8, 3), kInk);
  canvas_.line(0, 0, 20, 20, 1, kPaper);
  EXPECT_EQ(count(kPaper), 21);
  canvas_.line(30, 10, 30, 12, 3, kInk);
  EXPECT_EQ(at(29, 9), kInk);
  EXPECT_EQ(at(31, 13), kInk);
}

TEST_F(CanvasTest, leaves_out_what_lies_outside) {
  canvas_.line(-1'000'000, 5, 1'000'000, 5, 1, kInk);
  EXPECT_EQ(count(kInk), 40);
  canvas_.line(-1'000'000, -1'000'000, 1'000'000, -1, 3, kInk);
  canvas_.line(50, 0, 60, 29, 1, kInk);
  canvas_.fill(-5, -5, 3, 3, kInk);
  canvas_.fill(39, 29, 1'000'000, 1'000'000, kPaper);
  EXPECT_EQ(count(kInk), 40);
  EXPECT_EQ(count(kPaper), 1);
  canvas_.text(1000, -1000, "far away from here", 2, kInk, kPaper);
  EXPECT_EQ(at(0, 0), kPaper);
}

TEST_F(CanvasTest, writes_letters_on_a_ground_within_the_picture) {
  canvas_.text(100, 100, "L7", 1, kInk, kPaper);
  EXPECT_EQ(count(kPaper) + count(kInk), Canvas::text_width("L7", 1) * Canvas::text_height(1));
  std::string rows;
  for (int y = 22; y < 29; ++y, rows += '\n')
    for (int x = 28; x < 39; ++x) rows += at(x, y) == kInk ? '#' : '.';
  EXPECT_EQ(rows,
            "#.....#####\n"
            "#.........#\n"
            "#........#.\n"
            "#.......#..\n"
            "#......#...\n"
            "#......#...\n"
            "#####..#...\n");
  EXPECT_EQ(Canvas::text_width("L\xe5\x87\xba", 1), Canvas::text_width("L?", 1)) << "one mark a character";
  const auto ink_of = [&](const char* text) {
    image_.bytes.assign(image_.bytes.size(), 0);
    canvas_.text(0, 0, text, 1, kInk, kPaper);
    return count(kInk);
  };
  EXPECT_EQ(ink_of("\xe5\x87\xba\xc3\xa9"), ink_of("??"));
  EXPECT_EQ(glyph_of('\n'), glyph_of('?'));
  EXPECT_EQ(glyph_of('\xe9'), glyph_of('?'));
}

TEST_F(CanvasTest, draws_what_decoders_find) {
  draw_result(canvas_, R"({"boxes":[{"box":[5.0,12.0,20.4,25.0],"class":2,"score":0.91}]})", {});
  EXPECT_NE(at(5, 25), (Colour{})) << picture({});
  EXPECT_NE(at(20, 20), (Colour{}));
  EXPECT_EQ(at(10, 20), (Colour{})) << "not filled";
  image_.bytes.assign(image_.bytes.size(), 0);
  draw_result(canvas_,
              R"({"boxes":[{"points":[[1,1],[30,5],[29,9],[0,5]],"score":0.5,"crop":{"keypoints":[)"
              R"({"point":[35,25],"score":1},{"point":null,"score":0}]}}]})",
              {.scale = 1, .x = 0, .y = 0});
  EXPECT_NE(at(29, 9), (Colour{}));
  EXPECT_NE(at(35, 25), (Colour{})) << "of the second model";
  image_.bytes.assign(image_.bytes.size(), 0);
  draw_result(canvas_, R"({"boxes":[{"box":[1,1,9,9],"keypoints":[{"point":[35,25],"score":1}]}]})", {});
  EXPECT_NE(at(35, 25), (Colour{})) << "of a pose";
}

TEST_F(CanvasTest, writes_what_a_picture_is_or_says) {
  const auto drawn = [&](const char* json) {
    image_.bytes.assign(image_.bytes.size(), 0);
    draw_result(canvas_, json, {});
    return 40 * 30 - count({});
  };
  EXPECT_GT(drawn(R"({"classes":[{"class":1,"label":"cat","score":0.9},{"class":0,"score":0.1}]})"), 0);
  EXPECT_GT(drawn(R"({"text":"EXIT","score":0.9})"), drawn(R"({"text":"E","score":0.9})"));
  EXPECT_EQ(drawn(R"({"text":"","score":0})"), 0);
  EXPECT_EQ(drawn(R"({"classes":[]})"), 0);
  EXPECT_EQ(drawn(R"({"classes":[3],"text":4})"), 0);
  const auto* const box = R"({"boxes":[{"points":[[1,20],[30,20],[30,28],[1,28]]}]})";
  const auto* const said = R"({"boxes":[{"points":[[1,20],[30,20],[30,28],[1,28]],"crop":{"text":"EXIT","score":1}}]})";
  EXPECT_GT(drawn(said), drawn(box)) << "of the second model";
}

TEST_F(CanvasTest, draws_nothing_of_what_it_does_not_know) {
  for (const auto* json :
       {"null", "", "{", "[]", "3", R"({"boxes":3,"keypoints":{}})", R"({"boxes":[1,{"box":[1,2]}]})",
        R"({"boxes":[{"box":[[1],[2],[3],[4]]}],"keypoints":[{"point":[1,"x"]},{}]})",
        R"({"outputs":[{"name":"x","shape":[1]}]})"})
    draw_result(canvas_, json, {});
  EXPECT_EQ(count({}), 40 * 30);
  draw_result(canvas_, R"({"boxes":[{"box":[-1e300,-1e300,1e300,1e300]}]})", {});
  EXPECT_EQ(count({}), 40 * 30) << "its sides are outside";
  draw_gap(canvas_, "deadline");
  EXPECT_LT(count({}), 40 * 30);
}

TEST_F(CanvasTest, brings_pictures_to_one_size) {
  BgrPicture picture(8, 6);
  const auto first = [&] { return picture.image().bytes.data(); };
  Image odd;
  odd.width = 7;
  odd.height = 5;
  odd.format = PixelFormat::rgb24;
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 35; ++i) pixels.insert(pixels.end(), {1, 2, 3});
  odd.bytes = pixels;
  auto place = picture.take(odd);
  EXPECT_EQ(place.scale, 1);
  EXPECT_EQ(place.x, 0);
  EXPECT_EQ((Colour{first()[0], first()[1], first()[2]}), (Colour{3, 2, 1}));
  EXPECT_EQ((Colour{first()[21], first()[22], first()[23]}), (Colour{0, 0, 0})) << "the column that makes it even";
  Image wide;
  wide.width = 16;
  wide.height = 4;
  wide.format = PixelFormat::gray8;
  wide.bytes.assign(64, 99);
  place = picture.take(wide);
  EXPECT_EQ(place.scale, 0.5);
  EXPECT_EQ(place.y, 2);
  EXPECT_EQ(first()[0], 0);
  EXPECT_EQ(first()[3 * 8 * 2], 99);
}

}  // namespace
}  // namespace ridgeline::stream
