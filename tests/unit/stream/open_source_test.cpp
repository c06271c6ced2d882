// SPDX-License-Identifier: Apache-2.0
// Sources that need no plug-in, and what is refused before one is asked for.
#include "stream/open_source.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "fakes/words.hpp"

namespace ridgeline::stream {
namespace {

using namespace std::chrono_literals;
using TestClock = std::chrono::steady_clock;

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }
  ~Pipe() {
    close_writing_end();
    ::close(ends[0]);
  }
  void close_writing_end() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
  void write(const std::vector<std::uint8_t>& bytes) const {
    EXPECT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::array<int, 2> ends{-1, -1};
};

std::unique_ptr<FrameSource> open_raw(const Pipe& pipe, const char* format) {
  SourceOptions options{.source = "-"};
  options.fd = pipe.ends[0];
  options.raw = parse_raw_format(format).value();
  return open_source(options).value();
}

base::Error refusal(SourceOptions options) {
  const auto opened = open_source(options);
  EXPECT_FALSE(opened) << options.source;
  return opened ? base::Error{} : opened.error();
}

TEST(SyntheticSource, moves_and_ends_and_is_the_same_every_time) {
  for (const auto format : {PixelFormat::bgr24, PixelFormat::rgb24, PixelFormat::gray8, PixelFormat::nv12}) {
    SourceOptions options{.source = "synthetic:64x48@25x3"};
    options.format = format;
    auto source = open_source(options).value();
    EXPECT_EQ(source->info().frames, 3);
    EXPECT_DOUBLE_EQ(source->info().fps, 25);
    std::vector<Image> seen;
    for (Image image;;) {
      const auto pts = source->next(image).value();
      if (!pts) break;
      EXPECT_EQ(*pts, static_cast<std::int64_t>(seen.size()) * 40'000'000);
      EXPECT_EQ(image.bytes.size(), image_bytes(64, 48, format));
      seen.push_back(image);
    }
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_NE(seen[0].bytes, seen[1].bytes);
    auto again = open_source(options).value();
    Image image;
    ASSERT_TRUE(again->next(image).value());
    EXPECT_EQ(image.bytes, seen[0].bytes);
  }
}

TEST(SyntheticSource, takes_a_count_without_a_rate_and_refuses_nonsense) {
  EXPECT_EQ(open_source({.source = "synthetic:64x48x7"}).value()->info().frames, 7);
  EXPECT_EQ(open_source({.source = "synthetic:64x48"}).value()->info().frames, -1);
  for (const char* const source : {"synthetic:", "synthetic:64", "synthetic:64x48x0", "synthetic:64x48@0",
                                   "synthetic:99999x48", "synthetic:x48"}) {
    EXPECT_EQ(refusal({.source = source}).code, base::ErrorCode::invalid_argument) << source;
  }
}

TEST(SyntheticSource, is_interrupted) {
  auto source = open_source({.source = "synthetic:64x48"}).value();
  source->interrupt();
  Image image;
  EXPECT_EQ(source->next(image).error().code, base::ErrorCode::cancelled);
}

TEST(RawSource, joins_what_comes_in_pieces) {
  Pipe pipe;
  auto source = open_raw(pipe, "4x2:bgr24@10");
  std::jthread writer([&] {
    std::vector<std::uint8_t> bytes(48);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
    for (std::size_t at = 0; at < bytes.size(); at += 7) {
      pipe.write({bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + 7, bytes.size()))});
      std::this_thread::sleep_for(1ms);
    }
    pipe.close_writing_end();
  });
  Image image;
  for (int frame = 0; frame < 2; ++frame) {
    ASSERT_EQ(source->next(image).value(), frame * 100'000'000);
    ASSERT_EQ(image.bytes.size(), 24U);
    EXPECT_EQ(image.bytes[23], 24 * frame + 23);
  }
  EXPECT_FALSE(source->next(image).value());
  EXPECT_FALSE(source->next(image).value());
  EXPECT_TRUE(source->notes().empty());
}

TEST(RawSource, tells_that_it_ended_inside_a_frame) {
  Pipe pipe;
  auto source = open_raw(pipe, "4x2:gray");
  pipe.write(std::vector<std::uint8_t>(11));
  pipe.close_writing_end();
  Image image;
  EXPECT_TRUE(source->next(image).value());
  EXPECT_FALSE(source->next(image).value());
  ASSERT_EQ(source->notes().size(), 1U);
  EXPECT_EQ(fakes::text_of(source->notes()[0]), "standard input: ends inside frame 2: 3 of 8 bytes");
}

TEST(RawSource, without_one_whole_frame_is_an_error) {
  Pipe pipe;
  auto source = open_raw(pipe, "4x2:gray");
  pipe.write(std::vector<std::uint8_t>(7));
  pipe.close_writing_end();
  Image image;
  const auto pts = source->next(image);
  ASSERT_FALSE(pts);
  EXPECT_EQ(pts.error().code, base::ErrorCode::corrupt);
}

TEST(RawSource, is_interrupted_while_it_waits) {
  Pipe pipe;
  auto source = open_raw(pipe, "4x2:gray");
  TestClock::time_point at;
  std::jthread other([&] {
    std::this_thread::sleep_for(20ms);
    at = TestClock::now();
    source->interrupt();
  });
  Image image;
  const auto pts = source->next(image);
  other.join();
  ASSERT_FALSE(pts);
  EXPECT_EQ(pts.error().code, base::ErrorCode::cancelled);
  EXPECT_LT(TestClock::now() - at, 100ms);
}

TEST(RawSource, reads_a_file) {
  const base::ScratchFolder folder("raw");
  const auto path = (folder.path() / "frames.gray").string();
  std::ofstream(path, std::ios::binary) << std::string(16, '\7');
  SourceOptions options{.source = path};
  options.raw = parse_raw_format("4x2:gray").value();
  auto source = open_source(options).value();
  Image image;
  EXPECT_TRUE(source->next(image).value());
  EXPECT_TRUE(source->next(image).value());
  EXPECT_FALSE(source->next(image).value());
  EXPECT_EQ(image.bytes[0], 7);
}

TEST(OpenSource, refuses_what_is_not_there_or_does_not_fit) {
  EXPECT_EQ(refusal({.source = "nowhere.mp4"}).message, "nowhere.mp4: no such file");
  EXPECT_EQ(refusal({.source = "nowhere.mp4"}).code, base::ErrorCode::not_found);
  EXPECT_EQ(refusal({.source = ""}).code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(refusal({.source = "camera:987"}).code, base::ErrorCode::not_found);
  EXPECT_EQ(refusal({.source = "camera:front"}).code, base::ErrorCode::invalid_argument);
  SourceOptions raw{.source = "rtsp://host/path"};
  raw.raw = RawFormat{4, 2};
  EXPECT_EQ(refusal(raw).code, base::ErrorCode::invalid_argument);
  SourceOptions carrier{.source = "rtsp://host/path"};
  carrier.rtsp_transport = "pigeon";
  EXPECT_EQ(refusal(carrier).code, base::ErrorCode::invalid_argument);
}

TEST(OpenSource, asks_a_camera_for_a_size_and_a_rate) {
  SourceOptions options;
  ASSERT_TRUE(set_camera_mode("1280x720", options));
  EXPECT_EQ(options.camera_width, 1280);
  EXPECT_EQ(options.camera_height, 720);
  EXPECT_EQ(options.camera_fps, 0);
  ASSERT_TRUE(set_camera_mode("640x480@29.97", options));
  EXPECT_EQ(options.camera_height, 480);
  EXPECT_DOUBLE_EQ(options.camera_fps, 29.97);
  for (const char* wrong : {"", "640", "640x0", "640x480@", "640x480@0"})
    EXPECT_EQ(set_camera_mode(wrong, options).error().code, base::ErrorCode::invalid_argument) << wrong;
}

TEST(OpenSource, hides_a_password) {
  EXPECT_EQ(source_name("rtsp://me:secret@cam:554/a@b"), "rtsp://me:***@cam:554/a@b");
  EXPECT_EQ(source_name("rtsp://me:se:c@ret@cam"), "rtsp://me:***@cam");
  EXPECT_EQ(source_name("rtsp://cam:554/path"), "rtsp://cam:554/path");
  EXPECT_EQ(source_name("rtsp://me@cam/path"), "rtsp://me@cam/path");
  EXPECT_EQ(source_name("folder/a:b@c.mp4"), "folder/a:b@c.mp4");
}

}  // namespace
}  // namespace ridgeline::stream
