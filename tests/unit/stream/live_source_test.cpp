// SPDX-License-Identifier: Apache-2.0
// With the fake plug-in of tests/fakes/fake_video_plugin.c.
#include "stream/sources/live_source.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "stream/open_source.hpp"

namespace ridgeline::stream {
namespace {

using namespace std::chrono_literals;

TEST(LiveSource, comes_back_with_times_that_go_on_and_is_interrupted) {
  SourceOptions options{.source = "rtsp://me:secret@fake/stream"};
  options.video_plugin = RL_TEST_FAKE_VIDEO;
  std::vector<std::string> told;
  options.on_note = [&](const schema::Message& note) { told.push_back(fakes::text_of(note)); };
  auto source = open_source(options).value();
  EXPECT_TRUE(source->info().is_live);
  EXPECT_EQ(source->info().name, "rtsp://me:***@fake/stream");
  Image image;
  std::int64_t last = -1;
  for (int frame = 0; frame < 6; ++frame) {
    const auto pts = source->next(image).value();
    ASSERT_TRUE(pts);
    EXPECT_GT(*pts, last);
    // Lost for 0.1 + 0.2 + 0.4 s: two attempts were refused.
    EXPECT_GE(*pts, frame < 3 ? 0 : 80'000'000 + 700'000'000);
    last = *pts;
    EXPECT_EQ(told.size(), frame < 3 ? 0U : 2U) << "at once";
    EXPECT_EQ(image.bytes, std::vector<std::uint8_t>(24, 128));
  }
  std::jthread other([&] {
    std::this_thread::sleep_for(900ms);  // it waits in the third connection by then
    source->interrupt();
  });
  const auto pts = source->next(image);
  ASSERT_FALSE(pts);
  EXPECT_EQ(pts.error().code, base::ErrorCode::cancelled);
  EXPECT_EQ(source->next(image).error().code, base::ErrorCode::cancelled);
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[0], "rtsp://me:***@fake/stream: connection lost after 3 frames");
  EXPECT_EQ(told[1].rfind("rtsp://me:***@fake/stream: back after ", 0), 0U) << told[1];
  EXPECT_NE(told[1].find(", 3 attempts"), std::string::npos);
  EXPECT_EQ(told[2], "rtsp://me:***@fake/stream: connection lost after 6 frames");
  EXPECT_EQ(fakes::texts_of(source->notes()),
            std::vector<std::string>{"rtsp://me:***@fake/stream: 2 damaged frames skipped"});
}

TEST(LiveSource, is_not_waited_for_when_it_is_not_there_at_first) {
  SourceOptions options{.source = "rtsp://nobody/stream"};
  options.video_plugin = RL_TEST_FAKE_VIDEO;
  const auto begin = std::chrono::steady_clock::now();
  const auto source = open_source(options);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().message, "rtsp://nobody/stream: connection refused");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
}

/// A device whose memory is the host's.
class HostAsDevice final : public DeviceImages {
 public:
  bool is_full = false;
  [[nodiscard]] void* context() const noexcept override { return const_cast<HostAsDevice*>(this); }
  [[nodiscard]] base::Result<ImageBytes> copy(const DeviceFrame& frame) override {
    if (is_full) return base::fail(base::ErrorCode::out_of_memory, "no memory");
    std::vector<std::uint8_t> bytes;
    const auto add = [&](std::uint64_t plane, std::int64_t stride, int rows) {
      for (int row = 0; row < rows; ++row) {
        const auto* const from = reinterpret_cast<const std::uint8_t*>(plane) + row * stride;
        bytes.insert(bytes.end(), from, from + frame.width);
      }
    };
    add(frame.luma, frame.luma_stride, frame.height);
    add(frame.chroma, frame.chroma_stride, frame.height / 2);
    auto block = std::make_shared<std::vector<std::uint8_t>>(std::move(bytes));
    return ImageBytes(std::shared_ptr<std::uint8_t>(block, block->data()), block->size(), ImagePlace::device);
  }
};

TEST(VideoSource, leaves_frames_on_the_device_that_decodes_them_once_it_is_asked_to) {
  const auto device = std::make_shared<HostAsDevice>();
  SourceOptions options{.source = "http://fake/clip.mp4"};
  options.video_plugin = RL_TEST_FAKE_VIDEO;
  options.device_images = device;
  auto source = open_source(options).value();
  EXPECT_EQ(source->info().decoder, "h264 by NVDEC");
  EXPECT_TRUE(source->info().notes.empty());
  Image image;
  ASSERT_TRUE(source->next(image).value());
  EXPECT_EQ(image.format, PixelFormat::bgr24) << "the first frame, which a model is chosen with";
  EXPECT_EQ(image.bytes, std::vector<std::uint8_t>(24, 128));
  source->leave_on_device();
  ASSERT_TRUE(source->next(image).value());
  EXPECT_EQ(image.format, PixelFormat::nv12);
  EXPECT_EQ(image.bytes.place(), ImagePlace::device);
  EXPECT_EQ(std::vector<std::uint8_t>(image.bytes.begin(), image.bytes.end()),
            (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14}));
  device->is_full = true;
  ASSERT_TRUE(source->next(image).value());
  EXPECT_EQ(image.bytes.place(), ImagePlace::pageable) << "what the device has no room for";
  EXPECT_EQ(image.bytes, std::vector<std::uint8_t>(24, 128));
}

TEST(VideoSource, says_why_the_gpu_does_not_decode_it) {
  SourceOptions options{.source = "http://fake/clip.hevc"};
  options.video_plugin = RL_TEST_FAKE_VIDEO;
  options.device_images = std::make_shared<HostAsDevice>();
  auto source = open_source(options).value();
  EXPECT_EQ(source->info().decoder, "h264");
  EXPECT_EQ(fakes::texts_of(source->info().notes),
            std::vector<std::string>{"http://fake/clip.hevc: decoded on the CPU: its pixels are p010"});
  source->leave_on_device();
  Image image;
  ASSERT_TRUE(source->next(image).value());
  EXPECT_EQ(image.format, PixelFormat::bgr24);
}

TEST(LiveSource, leaves_frames_on_the_device_after_a_loss_too) {
  SourceOptions options{.source = "rtsp://fake/clip"};
  options.video_plugin = RL_TEST_FAKE_VIDEO;
  options.device_images = std::make_shared<HostAsDevice>();
  auto source = open_source(options).value();
  source->leave_on_device();
  Image image;
  for (int frame = 0; frame < 4; ++frame) {
    ASSERT_TRUE(source->next(image).value());
    EXPECT_EQ(image.bytes.place(), ImagePlace::device) << "frame " << frame;
  }
}

TEST(VideoLibrary, refuses_what_is_no_plugin_of_this_version) {
  for (const char* const file : {RL_TEST_FAKE_VIDEO_SHORT, RL_TEST_DATA "/../CMakeLists.txt", "/nowhere/video.so"}) {
    const auto library = VideoLibrary::open(file);
    ASSERT_FALSE(library) << file;
    EXPECT_FALSE(library.error().hint.empty());
    EXPECT_EQ(library.error().message.find('\n'), std::string::npos);
  }
  EXPECT_EQ(VideoLibrary::open(RL_TEST_FAKE_VIDEO)->runtime(), "FFmpeg 0.0, none");
}

}  // namespace
}  // namespace ridgeline::stream
