// SPDX-License-Identifier: Apache-2.0
#include "stream/raw_format.hpp"

#include <gtest/gtest.h>

namespace ridgeline::stream {
namespace {

TEST(RawFormat, reads_size_pixels_and_rate) {
  const auto full = parse_raw_format("1280x720:rgb24@29.97");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->width, 1280);
  EXPECT_EQ(full->height, 720);
  EXPECT_EQ(full->format, PixelFormat::rgb24);
  EXPECT_DOUBLE_EQ(full->fps, 29.97);
  const auto brief = parse_raw_format("2x2:nv12");
  ASSERT_TRUE(brief);
  EXPECT_EQ(brief->format, PixelFormat::nv12);
  EXPECT_DOUBLE_EQ(brief->fps, 30);
  EXPECT_EQ(parse_raw_format("5x3:gray")->format, PixelFormat::gray8);
}

TEST(RawFormat, refuses_what_is_wrong_and_names_it) {
  const std::pair<const char*, const char*> cases[] = {
      {"1280x720", "no pixel format"}, {"1280:bgr24", "\"1280\" is not WIDTHxHEIGHT"},
      {"0x720:bgr24", "a side of 0"},  {"40000x2:bgr24", "40000 is outside 1..32768"},
      {"32768x32768:gray", "pixels"},  {"3x2:nv12", "even sides"},
      {"2x2:bgr32", "\"bgr32\""},      {"2x2:bgr24@0", "0 frames per second"},
      {"2x2:bgr24@fast", "fast"},      {"2x-2:bgr24", "a side of -2"},
      {"", "no pixel format"},         {"2x2x2:gray", "2x2"}};
  for (const auto& [text, part] : cases) {
    const auto parsed = parse_raw_format(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, base::ErrorCode::invalid_argument) << text;
    EXPECT_NE(parsed.error().message.find(part), std::string::npos) << parsed.error().message;
  }
  EXPECT_EQ(parse_raw_format("2x2:bgr23").error().hint, "did you mean \"bgr24\"?");
}

}  // namespace
}  // namespace ridgeline::stream
