// SPDX-License-Identifier: Apache-2.0
#include "stream/preprocessor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/half_float.hpp"
#include "base/random.hpp"
#include "fakes/words.hpp"

namespace ridgeline::stream {
namespace {

Image noise_image(int width, int height, PixelFormat format, std::uint64_t seed = 1) {
  Image image{width, height, format, {}};
  image.bytes.resize(image_bytes(width, height, format));
  base::Random random(seed);
  for (auto& byte : image.bytes) byte = static_cast<std::uint8_t>(random.next() >> 56U);
  return image;
}

/// Interpolation by its definition, one value at a time.
double bilinear(const Image& image, int components, int channel, double x, double y) {
  x = std::clamp(x, 0.0, image.width - 1.0);
  y = std::clamp(y, 0.0, image.height - 1.0);
  const int x0 = std::min(static_cast<int>(x), std::max(0, image.width - 2));
  const int y0 = std::min(static_cast<int>(y), std::max(0, image.height - 2));
  const auto at = [&](int column, int row) {
    column = std::min(column, image.width - 1);
    row = std::min(row, image.height - 1);
    return static_cast<double>(
        image.bytes[static_cast<std::size_t>((row * image.width + column) * components + channel)]);
  };
  const double wx = x - x0, wy = y - y0;
  return (at(x0, y0) * (1 - wx) + at(x0 + 1, y0) * wx) * (1 - wy) +
         (at(x0, y0 + 1) * (1 - wx) + at(x0 + 1, y0 + 1) * wx) * wy;
}

std::vector<float> preprocess(Preprocessor& preprocessor, const Image& image, const FrameGeometry& geometry) {
  std::vector<float> out(preprocessor.elements(geometry), -1000);
  EXPECT_TRUE(preprocessor.run(image, geometry, out));
  return out;
}

TEST(Preprocessor, sides_of_a_dynamic_model_are_multiples_of_the_stride) {
  PreprocessOptions options;
  const auto full = Preprocessor(options).plan(1280, 720, -1, -1).value();
  EXPECT_EQ(full.input_width, 1280);
  EXPECT_EQ(full.input_height, 704);  // 22.5 strides
}

TEST(Preprocessor, a_small_scale_leaves_one_stride) {
  PreprocessOptions options;
  options.scale = 0.01;
  const auto geometry = Preprocessor(options).plan(1280, 720, -1, -1).value();
  EXPECT_EQ(geometry.input_width, 32);
  EXPECT_EQ(geometry.input_height, 32);
  EXPECT_EQ(geometry.detail_width, 0);
}

TEST(Preprocessor, a_fixed_input_is_letterboxed_and_a_scale_takes_detail) {
  PreprocessOptions options;
  options.scale = 0.25;
  const auto geometry = Preprocessor(options).plan(1280, 720, 640, 640).value();
  EXPECT_EQ(geometry.input_width, 640);
  EXPECT_DOUBLE_EQ(geometry.scale_x, 0.5);
  EXPECT_DOUBLE_EQ(geometry.offset_y, 140);
  EXPECT_EQ(geometry.detail_width, 320);
  EXPECT_EQ(geometry.detail_height, 180);
  EXPECT_DOUBLE_EQ(geometry.to_frame(0, 140 + 180).y, 360);
  EXPECT_EQ(fakes::text_of(fixed_input_note(options, 640, 640).value()),
            "inference_scale 0.25: the model's input is fixed at 640x640, so frames lose detail and inference costs "
            "the same");
  EXPECT_FALSE(fixed_input_note(options, -1, -1));
  options.scale = 1.5;
  EXPECT_EQ(fakes::text_of(fixed_input_note(options, 640, 640).value()),
            "inference_scale 1.5: the model's input is fixed at 640x640, so it changes nothing");
}

TEST(Preprocessor, interpolates_between_pixel_centres_at_any_size) {
  for (const auto& [width, height] : {std::pair{64, 32}, {96, 64}, {32, 96}, {160, 160}, {37, 23}}) {
    for (const auto format : {PixelFormat::bgr24, PixelFormat::rgb24, PixelFormat::gray8}) {
      const auto image = noise_image(64, 37, format);
      PreprocessOptions options;
      options.resize = Resize::stretch;
      options.mean = {0.1F, 0.2F, 0.3F};
      options.deviation = {0.5F, 0.6F, 0.7F};
      Preprocessor preprocessor(options);
      const auto geometry = preprocessor.plan(64, 37, width, height).value();
      const auto out = preprocess(preprocessor, image, geometry);
      const int components = format == PixelFormat::gray8 ? 1 : 3;
      double worst = 0;
      for (int c = 0; c < 3; ++c)
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x) {
            const int from = components == 1 ? 0 : format == PixelFormat::bgr24 ? 2 - c : c;
            const double pixel =
                bilinear(image, components, from, (x + 0.5) * 64 / width - 0.5, (y + 0.5) * 37 / height - 0.5);
            const double mean = options.mean[static_cast<std::size_t>(c)];
            const double deviation = options.deviation[static_cast<std::size_t>(c)];
            const double value = out[static_cast<std::size_t>((c * height + y) * width + x)];
            worst = std::max(worst, std::abs((pixel / 255 - mean) / deviation - value));
          }
      EXPECT_LT(worst, 2e-5) << width << "x" << height << " " << to_string(format);
    }
  }
}

TEST(Preprocessor, nhwc_has_the_values_of_nchw) {
  for (const auto channels : {ChannelOrder::rgb, ChannelOrder::bgr, ChannelOrder::gray})
    for (const auto format : {PixelFormat::bgr24, PixelFormat::rgb24, PixelFormat::gray8, PixelFormat::nv12}) {
      const auto image = noise_image(50, 30, format);
      PreprocessOptions options;
      options.channels = channels;
      options.mean = {0.1F, 0.2F, 0.3F};
      options.deviation = {0.5F, 0.6F, 0.7F};
      Preprocessor planar(options);
      options.layout = TensorLayout::nhwc;
      Preprocessor interleaved(options);
      const auto geometry = planar.plan(50, 30, 64, 64).value();
      const auto a = preprocess(planar, image, geometry);
      const auto b = preprocess(interleaved, image, geometry);
      const std::size_t count = channels == ChannelOrder::gray ? 1 : 3;
      ASSERT_EQ(a.size(), count * 64 * 64);
      std::size_t different = 0;
      for (std::size_t i = 0; i < 64 * 64; ++i)
        for (std::size_t c = 0; c < count; ++c) different += a[c * 64 * 64 + i] != b[count * i + c];
      EXPECT_EQ(different, 0U);
    }
}

TEST(Preprocessor, a_letterbox_can_have_the_frame_at_the_top_left) {
  PreprocessOptions options;
  options.align = Align::top_left;
  options.pixel_scale = 1;
  Preprocessor preprocessor(options);
  const auto geometry = preprocessor.plan(8, 4, 8, 8).value();
  EXPECT_EQ(geometry.offset_x, 0);
  EXPECT_EQ(geometry.offset_y, 0);
  EXPECT_EQ(geometry.scale_y, 1);
  Image image{8, 4, PixelFormat::bgr24, std::vector<std::uint8_t>(8 * 4 * 3, 200)};
  const auto input = preprocess(preprocessor, image, geometry);
  EXPECT_EQ(input.front(), 200);
  EXPECT_EQ(input[3 * 8 + 7], 200);
  EXPECT_EQ(input[4 * 8], 114);
  EXPECT_EQ(geometry.to_frame(4, 2), (Point{4, 2}));
}

TEST(Preprocessor, the_border_of_a_letterbox_is_normalised_too) {
  PreprocessOptions options;
  Preprocessor preprocessor(options);
  const auto geometry = preprocessor.plan(40, 20, 80, 80).value();
  const auto out = preprocess(preprocessor, noise_image(40, 20, PixelFormat::bgr24), geometry);
  EXPECT_FLOAT_EQ(out.front(), 114.0F / 255);
  EXPECT_FLOAT_EQ(out[19 * 80 + 79], 114.0F / 255);
  EXPECT_FLOAT_EQ(out.back(), 114.0F / 255);
}

TEST(Preprocessor, nv12_of_known_colours) {
  // BT.601, 16 to 235: white, black, and red as (81, 90, 240).
  Image image{
      6, 2, PixelFormat::nv12, {235, 235, 16, 16, 81, 81, 235, 235, 16, 16, 81, 81, 128, 128, 128, 128, 90, 240}};
  PreprocessOptions options;
  options.pixel_scale = 1;
  options.layout = TensorLayout::nhwc;
  Preprocessor preprocessor(options);
  const auto out = preprocess(preprocessor, image, preprocessor.plan(6, 2, 6, 2).value());
  const std::vector<float> row{255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 254, 0, 0, 254, 0, 0};
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(out[i], row[i], 1) << i;
}

TEST(Preprocessor, bytes_are_pixels_and_halves_are_rounded_floats) {
  const auto image = noise_image(40, 20, PixelFormat::bgr24);
  PreprocessOptions options;
  options.channels = ChannelOrder::bgr;
  options.layout = TensorLayout::nhwc;
  Preprocessor preprocessor(options);
  const auto geometry = preprocessor.plan(40, 20, 40, 20).value();
  std::vector<std::uint8_t> bytes(preprocessor.elements(geometry));
  ASSERT_TRUE(preprocessor.run_bytes(image, geometry, bytes));
  EXPECT_EQ(bytes, image.bytes);
  std::vector<std::uint16_t> halves(bytes.size());
  ASSERT_TRUE(preprocessor.run_half(image, geometry, halves));
  const auto floats = preprocess(preprocessor, image, geometry);
  for (std::size_t i = 0; i < floats.size(); ++i) ASSERT_EQ(halves[i], base::to_half(floats[i]));
}

TEST(Preprocessor, a_scale_on_a_fixed_input_removes_detail) {
  auto stripes = noise_image(64, 64, PixelFormat::gray8);
  for (std::size_t i = 0; i < stripes.bytes.size(); ++i) stripes.bytes[i] = i % 2 == 0 ? 0 : 255;
  PreprocessOptions options;
  options.scale = 0.5;
  options.pixel_scale = 1;
  Preprocessor preprocessor(options);
  for (const float value : preprocess(preprocessor, stripes, preprocessor.plan(64, 64, 64, 64).value()))
    ASSERT_NEAR(value, 127.5, 0.6);
}

TEST(Preprocessor, keeps_nothing_of_frames_of_other_sizes) {
  Preprocessor preprocessor(PreprocessOptions{});
  for (const auto& [width, height] : {std::pair{64, 48}, {32, 24}, {100, 10}, {64, 48}, {1, 1}}) {
    const auto image = noise_image(width, height, PixelFormat::rgb24);
    const auto geometry = preprocessor.plan(width, height, 48, 48).value();
    Preprocessor fresh(PreprocessOptions{});
    EXPECT_EQ(preprocess(preprocessor, image, geometry), preprocess(fresh, image, geometry));
  }
}

TEST(Preprocessor, refuses_what_does_not_fit) {
  Preprocessor preprocessor(PreprocessOptions{});
  const auto geometry = preprocessor.plan(64, 48, -1, -1).value();
  std::vector<float> out(preprocessor.elements(geometry));
  EXPECT_EQ(preprocessor.run(noise_image(64, 40, PixelFormat::bgr24), geometry, out).error().message,
            "a frame of 64x40: expected 64x48 as before");
  auto cut = noise_image(64, 48, PixelFormat::bgr24);
  cut.bytes.resize(100);
  EXPECT_EQ(preprocessor.run(cut, geometry, out).error().message,
            "a frame of 64x48 in bgr24 with 100 bytes: expected 9216");
  EXPECT_FALSE(preprocessor.run(noise_image(64, 48, PixelFormat::bgr24), geometry, std::span(out).first(9)));
  EXPECT_EQ(preprocessor.plan(0, 48, -1, -1).error().message, "a frame of 0x48: expected sides of 1 to 32768");
  PreprocessOptions options;
  options.deviation[1] = 0;
  EXPECT_EQ(check_preprocess_options(options).error().message, "preprocess.std 0: expected a number above 0");
  options = {};
  options.scale = 5;
  EXPECT_EQ(check_preprocess_options(options).error().message, "inference_scale 5 is outside 0..4");
}

TEST(HalfFloat, is_the_nearest_half) {
  for (const auto& [value, bits] : std::vector<std::pair<float, int>>{{0.0F, 0},
                                                                      {-0.0F, 0x8000},
                                                                      {1.0F, 0x3c00},
                                                                      {-2.0F, 0xc000},
                                                                      {65504.0F, 0x7bff},
                                                                      {65519.0F, 0x7bff},
                                                                      {65520.0F, 0x7c00},
                                                                      {6.0e-8F, 1},
                                                                      {1.0F / 3, 0x3555},
                                                                      {2049.0F, 0x6800},
                                                                      {2051.0F, 0x6802}})
    EXPECT_EQ(base::to_half(value), bits) << value;
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const int exponent = bits >> 10;
    const int fraction = bits & 0x3ff;
    const float value = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                      : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    ASSERT_EQ(base::to_half(value), bits);
    ASSERT_EQ(base::to_half(-value), bits | 0x8000);
  }
  EXPECT_EQ(base::to_half(std::numeric_limits<float>::quiet_NaN()) & 0x7fff, 0x7e00);
  EXPECT_EQ(base::to_half(std::numeric_limits<float>::infinity()), 0x7c00);
}

}  // namespace
}  // namespace ridgeline::stream
