// SPDX-License-Identifier: Apache-2.0
// Pictures and clips of four colours that are stored in each of the eight ways; skipped without the video plug-in.
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/scratch_folder.hpp"
#include "fakes/words.hpp"
#include "stream/open_source.hpp"
#include "stream/video_library.hpp"
#include "stream/video_writer.hpp"

namespace ridgeline::stream {
namespace {

/// By EXIF's number: the colours of the corners as they are to be seen, in reading order. Stored is "RGBW".
constexpr std::array<const char*, 9> kSeen{"", "RGBW", "GRWB", "WBGR", "BWRG", "RBGW", "BRWG", "WGBR", "GWRB"};
constexpr int kWidth = 64;
constexpr int kHeight = 32;

bool is_on_its_side(int orientation) { return orientation >= 5; }

char nearest(int blue, int green, int red) {
  const auto is_high = [](int value) { return value > 127; };
  if (is_high(blue) && is_high(green) && is_high(red)) return 'W';
  return is_high(red) ? 'R' : is_high(green) ? 'G' : is_high(blue) ? 'B' : '?';
}

std::string corners(const Image& image) {
  std::string out;
  for (const int y : {image.height / 4, 3 * image.height / 4})
    for (const int x : {image.width / 4, 3 * image.width / 4}) {
      const auto* pixel =
          image.bytes.data() +
          3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
      out += nearest(pixel[0], pixel[1], pixel[2]);
    }
  return out;
}

std::string big_endian(std::uint32_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xffU);
  return out;
}

/// EXIF data with one entry.
std::string exif(int orientation, bool is_big_endian) {
  using namespace std::string_literals;
  const auto number = static_cast<char>(orientation);
  return is_big_endian ? "MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0"s + number + "\0\0\0\0\0\0"s
                       : "II*\0\x08\0\0\0\1\0\x12\x01\3\0\1\0\0\0"s + number + "\0\0\0\0\0\0\0"s;
}

class Orientations : public testing::Test {
 protected:
  void SetUp() override {
    const auto library = VideoLibrary::open();
    if (!library) GTEST_SKIP() << base::error_line(library.error());
  }

  std::string write(const std::string& name, std::string_view bytes) const {
    const auto path = (folder_.path() / name).string();
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  static std::string plain_jpeg() { return base::read_file(RL_TEST_DATA "/pictures/quadrants.jpg").value(); }

  static std::string jpeg(int orientation, bool is_big_endian) {
    const auto data = std::string("Exif\0\0", 6) + exif(orientation, is_big_endian);
    const auto plain = plain_jpeg();
    return plain.substr(0, 2) + "\xff\xe1" + big_endian(static_cast<std::uint32_t>(data.size()) + 2, 2) + data +
           plain.substr(2);
  }

  /// A clip of the four colours whose track has that matrix.
  std::string clip(const std::array<std::int32_t, 4>& matrix) const {
    const auto path = (folder_.path() / "clip.mp4").string();
    auto writer = VideoWriter::create(path, {kWidth, kHeight, 25}).value();
    Image image{kWidth, kHeight, PixelFormat::bgr24, std::vector<std::uint8_t>(3 * kWidth * kHeight)};
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) {
        const bool is_left = x < kWidth / 2;
        const bool is_top = y < kHeight / 2;
        auto* pixel = image.bytes.data() + 3 * (y * kWidth + x);
        pixel[0] = is_top ? 0 : 255;
        pixel[1] = is_left ? 0 : 255;
        pixel[2] = is_top == is_left ? 255 : 0;
      }
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(writer->write(image, i * 40'000'000));
    EXPECT_TRUE(writer->finish());
    auto bytes = base::read_file(path).value();
    // The header of a track: the matrix is 40 bytes behind its name.
    const auto at = bytes.find("tkhd") + 4 + 40;
    const std::array<std::int32_t, 9> all{matrix[0], matrix[1], 0, matrix[2], matrix[3], 0, 0, 0, 1 << 30};
    std::string text;
    for (const auto term : all) text += big_endian(static_cast<std::uint32_t>(term), 4);
    return write("turned.mp4", bytes.replace(at, text.size(), text));
  }

  static Image first_of(FrameSource& source) {
    Image image;
    EXPECT_TRUE(source.next(image).value());
    return image;
  }

  base::ScratchFolder folder_{"orientation"};
};

TEST_F(Orientations, of_jpegs_are_applied_as_exif_has_them) {
  for (int orientation = 1; orientation <= 8; ++orientation)
    for (const bool is_big_endian : {false, true}) {
      SCOPED_TRACE(orientation);
      const auto file = write("a.jpg", jpeg(orientation, is_big_endian));
      auto source = open_source({.source = file}).value();
      const auto image = first_of(*source);
      EXPECT_EQ(corners(image), kSeen[static_cast<std::size_t>(orientation)]);
      EXPECT_EQ(image.width, is_on_its_side(orientation) ? kHeight : kWidth);
      EXPECT_EQ(source->info().width, image.width);
      EXPECT_EQ(source->info().height, image.height);
      ASSERT_EQ(source->info().notes.size(), orientation == 1 ? 0U : 1U);
      if (orientation == 6) {
        EXPECT_EQ(fakes::text_of(source->info().notes[0]),
                  file + ": rotated by 90 degrees as the file requests; rotate: 0 leaves it as stored");
      }
    }
}

TEST_F(Orientations, are_left_alone_where_the_user_says_so) {
  SourceOptions options{.source = write("a.jpg", jpeg(6, true))};
  options.rotate = false;
  auto source = open_source(options).value();
  EXPECT_EQ(corners(first_of(*source)), "RGBW");
  EXPECT_TRUE(source->info().notes.empty());
  options.source = clip({0, 1 << 16, -(1 << 16), 0});
  auto video = open_source(options).value();
  EXPECT_EQ(corners(first_of(*video)), "RGBW");
  EXPECT_EQ(video->info().width, kWidth);
}

TEST_F(Orientations, without_sense_are_none) {
  const std::string no_entry = exif(6, true).substr(0, 10);
  for (const auto& data :
       {exif(0, true), exif(9, false), no_entry, std::string("MM\0*\xff\xff\xff\xff", 8), std::string()}) {
    const auto segment = std::string("Exif\0\0", 6) + data;
    const auto plain = plain_jpeg();
    auto source =
        open_source({.source = write("a.jpg", plain.substr(0, 2) + "\xff\xe1" +
                                                  big_endian(static_cast<std::uint32_t>(segment.size()) + 2, 2) +
                                                  segment + plain.substr(2))})
            .value();
    EXPECT_EQ(corners(first_of(*source)), "RGBW");
  }
}

TEST_F(Orientations, of_clips_are_those_of_their_matrix) {
  constexpr std::int32_t kOne = 1 << 16;
  constexpr std::array<std::array<std::int32_t, 4>, 9> kMatrices{{{},
                                                                  {kOne, 0, 0, kOne},
                                                                  {-kOne, 0, 0, kOne},
                                                                  {-kOne, 0, 0, -kOne},
                                                                  {kOne, 0, 0, -kOne},
                                                                  {0, kOne, kOne, 0},
                                                                  {0, kOne, -kOne, 0},
                                                                  {0, -kOne, -kOne, 0},
                                                                  {0, -kOne, kOne, 0}}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    const auto file = clip(kMatrices[static_cast<std::size_t>(orientation)]);
    auto source = open_source({.source = file}).value();
    EXPECT_EQ(source->info().width, is_on_its_side(orientation) ? kHeight : kWidth);
    EXPECT_EQ(source->info().notes.size(), orientation == 1 ? 0U : 1U);
    for (int frame = 0; frame < 3; ++frame)
      EXPECT_EQ(corners(first_of(*source)), kSeen[static_cast<std::size_t>(orientation)]);
  }
}

TEST_F(Orientations, in_every_pixel_format_have_the_same_brightness) {
  const auto file = write("a.jpg", jpeg(8, true));
  SourceOptions options{.source = file};
  options.format = PixelFormat::gray8;
  const auto grey = first_of(*open_source(options).value());
  options.format = PixelFormat::nv12;
  const auto planes = first_of(*open_source(options).value());
  options.format = PixelFormat::rgb24;
  const auto colours = first_of(*open_source(options).value());
  ASSERT_EQ(planes.width, kHeight);
  ASSERT_EQ(planes.bytes.size(), image_bytes(kHeight, kWidth, PixelFormat::nv12));
  for (const int x : {8, 24})
    for (const int y : {16, 48}) {
      const auto at = static_cast<std::size_t>(y * kHeight + x);
      EXPECT_NEAR((planes.bytes[at] - 16) * 255.0 / 219, grey.bytes[at], 6);  // of video's range
      const double luma =
          0.299 * colours.bytes[3 * at] + 0.587 * colours.bytes[3 * at + 1] + 0.114 * colours.bytes[3 * at + 2];
      EXPECT_NEAR(luma, grey.bytes[at], 6);
    }
  // Blue, in the right lower corner, has much of the first chroma and little of the second.
  const auto chroma = static_cast<std::size_t>(kHeight * kWidth + 24 * kHeight + 24);
  EXPECT_GT(planes.bytes[chroma], 200);
  EXPECT_LT(planes.bytes[chroma + 1], 128);
}

TEST_F(Orientations, of_other_angles_are_told_and_not_done) {
  const auto file = clip({46341, 46341, -46341, 46341});
  auto source = open_source({.source = file}).value();
  EXPECT_EQ(corners(first_of(*source)), "RGBW");
  ASSERT_EQ(source->info().notes.size(), 1U);
  EXPECT_NE(fakes::text_of(source->info().notes[0]).find("a rotation by 45 degrees, which is not done"),
            std::string::npos)
      << fakes::text_of(source->info().notes[0]);
}

TEST_F(Orientations, of_a_folders_pictures_are_counted) {
  write("1.jpg", jpeg(1, true));
  write("2.jpg", jpeg(6, true));
  write("10.jpg", jpeg(3, false));
  auto source = open_source({.source = folder_.path().string()}).value();
  EXPECT_EQ(corners(first_of(*source)), kSeen[1]);
  EXPECT_EQ(corners(first_of(*source)), kSeen[6]);
  EXPECT_EQ(source->label().file, "2.jpg");
  EXPECT_EQ(corners(first_of(*source)), kSeen[3]);
  ASSERT_EQ(source->notes().size(), 1U);
  EXPECT_NE(fakes::text_of(source->notes()[0]).find("2 pictures rotated or mirrored as EXIF requests"),
            std::string::npos);
}

TEST_F(Orientations, pictures_that_end_early_are_damaged) {
  const auto plain = plain_jpeg();
  const auto cut = open_source({.source = write("cut.jpg", std::string_view(plain).substr(0, plain.size() - 40))});
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, base::ErrorCode::corrupt);
  EXPECT_NE(cut.error().message.find("the mjpeg picture ends early"), std::string::npos) << cut.error().message;
  auto longer = open_source({.source = write("longer.JPG", plain + "what a phone adds" + plain)}).value();
  EXPECT_EQ(corners(first_of(*longer)), "RGBW");
  Image image;
  EXPECT_FALSE(longer->next(image).value()) << "a picture has one frame";
  EXPECT_TRUE(longer->notes().empty());
  // Behind so many bytes FFmpeg's own look at the file does not see its end.
  auto large = jpeg(6, true);
  std::string comments;
  for (int i = 0; i < 200; ++i) comments += "\xff\xfe\xff\xff" + std::string(65533, 'x');
  large.insert(2, comments);
  auto source = open_source({.source = write("large.jpg", large)}).value();
  EXPECT_EQ(corners(first_of(*source)), kSeen[6]);
}

TEST_F(Orientations, interlaced_video_is_told) {
  const auto y4m = [](char fields) {
    return fmt::format("YUV4MPEG2 W16 H8 F10:1 I{} A1:1 C420jpeg\nFRAME\n", fields) + std::string(128, '\x50') +
           std::string(64, '\x80');
  };
  EXPECT_TRUE(open_source({.source = write("p.y4m", y4m('p'))}).value()->info().notes.empty());
  for (const auto& [fields, name] : {std::pair{'t', "top"}, {'b', "bottom"}}) {
    auto source = open_source({.source = write("i.y4m", y4m(fields))}).value();
    ASSERT_EQ(source->info().notes.size(), 1U);
    EXPECT_NE(fakes::text_of(source->info().notes[0])
                  .find(fmt::format("interlaced ({} field first) and not deinterlaced", name)),
              std::string::npos)
        << fakes::text_of(source->info().notes[0]);
    (void)first_of(*source);
    EXPECT_TRUE(source->notes().empty()) << "told once";
  }
}

}  // namespace
}  // namespace ridgeline::stream
