// SPDX-License-Identifier: Apache-2.0
// Clips that the plug-in's own encoder makes, read back whole, cut and damaged; skipped where it is not built.
#include "stream/sources/video_source.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/scratch_folder.hpp"
#include "fakes/words.hpp"
#include "stream/open_source.hpp"
#include "stream/sources/live_source.hpp"
#include "stream/video_writer.hpp"

namespace ridgeline::stream {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class VideoFiles : public testing::Test {
 protected:
  void SetUp() override {
    const auto library = VideoLibrary::open();
    if (!library) GTEST_SKIP() << base::error_line(library.error());
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  /// A clip of synthetic frames.
  std::string clip(const std::string& name, int frames, const std::string& size = "96x64") const {
    auto source = open_source({.source = fmt::format("synthetic:{}@25x{}", size, frames)}).value();
    auto writer = VideoWriter::create(path(name), {source->info().width, source->info().height, 25}).value();
    for (Image image;;) {
      const auto pts = source->next(image).value();
      if (!pts) break;
      EXPECT_TRUE(writer->write(image, *pts));
    }
    EXPECT_TRUE(writer->finish());
    return path(name);
  }

  /// 4:2:0 pictures of one brightness each, with headers.
  static std::string y4m(int frames, int width = 16, int height = 8) {
    auto out = fmt::format("YUV4MPEG2 W{} H{} F10:1 Ip A1:1 C420jpeg\n", width, height);
    for (int i = 0; i < frames; ++i)
      out += "FRAME\n" + std::string(static_cast<std::size_t>(width * height), static_cast<char>(16 + 50 * i)) +
             std::string(static_cast<std::size_t>(width * height / 2), '\x80');
    return out;
  }

  static void write(const std::string& file, std::string_view bytes) {
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  static int count(FrameSource& source) {
    int frames = 0;
    std::int64_t last = -1;
    for (Image image;; ++frames) {
      const auto pts = source.next(image);
      if (!pts) ADD_FAILURE() << pts.error().message;
      if (!pts || !*pts) return frames;
      EXPECT_GT(**pts, last);
      last = **pts;
      EXPECT_EQ(image.bytes.size(), image_bytes(image.width, image.height, image.format));
    }
  }

  base::ScratchFolder folder_{"video"};
};

TEST_F(VideoFiles, give_every_frame_with_its_time_in_every_container_and_format) {
  for (const char* const name : {"a.mp4", "a.avi", "a.mkv"}) {
    const auto file = clip(name, 50);
    for (const auto format : {PixelFormat::bgr24, PixelFormat::rgb24, PixelFormat::gray8, PixelFormat::nv12}) {
      SourceOptions options{.source = file};
      options.format = format;
      auto source = open_source(options).value();
      EXPECT_EQ(source->info().width, 96);
      EXPECT_NEAR(source->info().fps, 25, 0.01);
      Image image;
      EXPECT_EQ(source->next(image).value(), 0);
      EXPECT_EQ(source->next(image).value(), 40'000'000);
      EXPECT_EQ(image.format, format);
      EXPECT_EQ(count(*source), 48) << name;
      EXPECT_TRUE(source->notes().empty()) << fakes::text_of(source->notes()[0]);
    }
  }
}

/// Of a GPU that is not there.
class NoDevice final : public DeviceImages {
 public:
  [[nodiscard]] void* context() const noexcept override { return const_cast<NoDevice*>(this); }
  [[nodiscard]] base::Result<ImageBytes> copy(const DeviceFrame&) override {
    return base::fail(base::ErrorCode::internal, "no device");
  }
};

TEST_F(VideoFiles, are_decoded_on_the_cpu_with_the_reason_where_no_gpu_can) {
  if (fs::exists("/proc/driver/nvidia/version")) GTEST_SKIP() << "this host has an NVIDIA driver";
  SourceOptions options{.source = clip("a.mp4", 20)};
  options.device_images = std::make_shared<NoDevice>();
  auto source = open_source(options).value();
  source->leave_on_device();
  ASSERT_EQ(source->info().notes.size(), 1U);
  const auto note = fakes::text_of(source->info().notes.front());
  EXPECT_NE(note.find("a.mp4: decoded on the CPU: "), std::string::npos) << note;
  EXPECT_EQ(note.find('\n'), std::string::npos) << note;
  int frames = 0;
  for (Image image; source->next(image).value(); ++frames) EXPECT_EQ(image.format, PixelFormat::bgr24);
  EXPECT_EQ(frames, 20);
  EXPECT_TRUE(source->notes().empty());
}

TEST_F(VideoFiles, show_what_was_written) {
  const auto file = path("grey.mp4");
  auto writer = VideoWriter::create(file, {64, 48, 25}).value();
  Image image{64, 48, PixelFormat::bgr24, std::vector<std::uint8_t>(64 * 48 * 3)};
  for (int i = 0; i < 10; ++i) {
    for (std::size_t at = 0; at < image.bytes.size(); at += 3) {
      image.bytes[at] = 20;
      image.bytes[at + 1] = static_cast<std::uint8_t>(80 + 10 * i);
      image.bytes[at + 2] = 200;
    }
    ASSERT_TRUE(writer->write(image, i * 40'000'000));
  }
  ASSERT_TRUE(writer->finish());
  auto source = open_source({.source = file}).value();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(source->next(image).value());
    EXPECT_NEAR(image.bytes[0], 20, 6);
    EXPECT_NEAR(image.bytes[1], 80 + 10 * i, 6);
    EXPECT_NEAR(image.bytes[2], 200, 6);
  }
}

TEST_F(VideoFiles, have_rows_without_padding_whatever_their_width) {
  for (const int width : {2, 34, 50, 98, 126}) {
    const auto file = path("odd.y4m");
    write(file, y4m(1, width, 6));
    auto source = open_source({.source = file}).value();
    Image image;
    ASSERT_TRUE(source->next(image).value());
    ASSERT_EQ(image.bytes.size(), static_cast<std::size_t>(width * 6 * 3));
    for (const auto byte : image.bytes) ASSERT_NEAR(byte, image.bytes[0], 1) << width;
  }
}

TEST(VideoNotes, say_what_the_plug_in_told) {
  rl_video_info video{};
  video.fields = RL_VIDEO_BOTTOM_FIELD_FIRST;
  video.other_angle = 45;
  video.orientation = 7;
  const auto info = info_of(video, "a.mp4", false);
  EXPECT_EQ(fakes::texts_of(info.notes),
            (std::vector<std::string>{
                "a.mp4: rotated by 270 degrees and mirrored as the file requests; rotate: 0 leaves it as stored",
                "a.mp4: the file requests a rotation by 45 degrees, which is not done: only quarter "
                "turns are supported",
                "a.mp4: interlaced (bottom field first) and not deinterlaced: moving edges look like combs; "
                "deinterlace it first, for example with ffmpeg -vf bwdif"}));
  for (const auto orientation : {-1, 0, 1, 9}) {
    rl_video_info plain{};
    plain.orientation = orientation;
    EXPECT_TRUE(info_of(plain, "a.mp4", false).notes.empty()) << orientation;
  }
  rl_video_totals totals{};
  totals.damaged = 1;
  totals.cut = 1;
  totals.frames = 20;
  totals.interlaced = 7;
  std::strcpy(totals.reason, "the file ends inside a packet");
  EXPECT_EQ(fakes::texts_of(notes_of(totals, {.name = "a.mp4"})),
            (std::vector<std::string>{
                "a.mp4: 1 damaged frame skipped", "a.mp4: ends early, after 20 frames: the file ends inside a packet",
                "a.mp4: 7 of 20 frames are interlaced and not deinterlaced: moving edges look like combs; "
                "deinterlace it first, for example with ffmpeg -vf bwdif"}));
}

TEST_F(VideoFiles, end_early_with_a_note_where_they_are_cut) {
  const auto whole = base::read_file(clip("whole.avi", 100)).value();
  write(path("cut.avi"), std::string_view(whole).substr(0, whole.size() / 2));
  auto source = open_source({.source = path("cut.avi")}).value();
  const int frames = count(*source);
  EXPECT_GT(frames, 5);
  EXPECT_LT(frames, 80);
  ASSERT_FALSE(source->notes().empty());
  EXPECT_NE(fakes::text_of(source->notes().back()).find("ends early"), std::string::npos);
}

TEST_F(VideoFiles, without_their_index_are_refused) {
  const auto whole = base::read_file(clip("whole.mp4", 100)).value();
  write(path("cut.mp4"), std::string_view(whole).substr(0, whole.size() / 2));
  write(path("empty.mp4"), "");
  write(path("text.mp4"), "these are no pictures\n");
  for (const char* const name : {"cut.mp4", "empty.mp4", "text.mp4"}) {
    const auto source = open_source({.source = path(name)});
    ASSERT_FALSE(source) << name;
    EXPECT_EQ(source.error().code, base::ErrorCode::corrupt);
    EXPECT_EQ(source.error().message.rfind(path(name) + ": ", 0), 0U);
    EXPECT_EQ(source.error().message.find('\n'), std::string::npos);
  }
}

TEST_F(VideoFiles, that_are_damaged_end_whatever_the_bytes_say) {
  const auto whole = base::read_file(clip("whole.mkv", 100)).value();
  std::uint32_t random = 1;
  int refused = 0;
  for (int copy = 0; copy < 40; ++copy) {
    auto bytes = whole;
    for (int i = 0; i < 30; ++i) {
      random = random * 1664525U + 1013904223U;
      bytes[random % bytes.size()] = static_cast<char>(random >> 24U);
    }
    write(path("bad.mkv"), bytes);
    auto source = open_source({.source = path("bad.mkv")});
    if (!source) {
      ++refused;
      continue;
    }
    int frames = 0;
    for (Image image; frames <= 200; ++frames) {
      const auto pts = (*source)->next(image);
      if (!pts || !*pts) break;
    }
    EXPECT_LE(frames, 100);
  }
  EXPECT_LT(refused, 30);
}

TEST_F(VideoFiles, without_video_are_refused) {
  // A second of silence: a WAV header of 44 bytes.
  std::string wave("RIFF\x64\x1f\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\x40\x1f\0\0", 44);
  write(path("sound.wav"), wave + std::string(8000, '\x80'));
  const auto source = open_source({.source = path("sound.wav")});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(source.error().message, path("sound.wav") + ": no video stream");
}

TEST_F(VideoFiles, come_through_pipes) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const auto bytes = y4m(3);
  ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  SourceOptions options{.source = "-"};
  options.fd = ends[0];
  ::close(ends[1]);
  auto source = open_source(options).value();
  EXPECT_EQ(source->info().decoder, "rawvideo");
  Image image;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(source->next(image).value(), i * 100'000'000);
    EXPECT_EQ(image.width, 16);
    EXPECT_NEAR(image.bytes[0], 16 + 50 * i, 17);
  }
  EXPECT_FALSE(source->next(image).value());
  ::close(ends[0]);
}

TEST_F(VideoFiles, in_a_pipe_that_stands_still_are_interrupted) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const auto bytes = y4m(40);
  ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  SourceOptions options{.source = "-"};
  options.fd = ends[0];
  auto source = open_source(options).value();
  std::chrono::steady_clock::time_point at;
  std::jthread other([&] {
    std::this_thread::sleep_for(300ms);
    at = std::chrono::steady_clock::now();
    source->interrupt();
  });
  base::ErrorCode code{};
  for (Image image;;) {
    const auto pts = source->next(image);
    if (pts && *pts) continue;
    if (!pts) code = pts.error().code;
    break;
  }
  other.join();
  EXPECT_EQ(code, base::ErrorCode::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - at, 100ms);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(VideoFiles, of_a_device_come_like_a_camera) {
  // FFmpeg's generator of test pictures stands in for a camera: both are devices of libavdevice.
  VideoReader::Input input;
  input.url = "testsrc=size=64x48:rate=25";
  input.name = "camera:0";
  input.demuxer = "lavfi";
  input.live = true;
  input.timeout = input.open_timeout = 5s;
  auto source = LiveSource::open(VideoLibrary::open().value(), input, {}).value();
  EXPECT_TRUE(source->info().is_live);
  Image image;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(source->next(image).value(), i * 40'000'000);
    EXPECT_EQ(image.width, 64);
  }
  source->interrupt();
  EXPECT_EQ(source->next(image).error().code, base::ErrorCode::cancelled);
}

TEST_F(VideoFiles, in_a_folder_come_by_name_each_with_its_size) {
  const auto pictures = path("pictures");
  fs::create_directory(pictures);
  const auto picture = [&](const std::string& name, int width, int height, int grey) {
    write(pictures + "/" + name, fmt::format("P5\n{} {}\n255\n", width, height) +
                                     std::string(static_cast<std::size_t>(width * height), static_cast<char>(grey)));
  };
  picture("b.pgm", 6, 5, 20);
  picture("a.pgm", 4, 3, 10);
  picture("d%03d.PGM", 9, 9, 30);
  write(pictures + "/c.png", "no picture");
  write(pictures + "/0.png", "");
  write(pictures + "/notes.txt", "left out");
  SourceOptions options{.source = pictures};
  options.format = PixelFormat::gray8;
  auto source = open_source(options).value();
  EXPECT_EQ(source->info().width, 4);
  EXPECT_EQ(source->info().frames, 5);
  EXPECT_TRUE(source->info().has_labels);
  Image image;
  std::int64_t frames = 0;
  for (const auto& [name, width, grey] :
       {std::tuple{"0.png", 0, 0}, {"a.pgm", 4, 10}, {"b.pgm", 6, 20}, {"c.png", 0, 0}, {"d%03d.PGM", 9, 30}}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(source->next(image).value(), frames++ * 1'000'000'000 / 30);
    const auto label = source->label();
    EXPECT_EQ(label.file, name);
    EXPECT_EQ(label.damage.empty(), width > 0) << label.damage;
    if (width == 0) continue;
    EXPECT_EQ(image.width, width);
    EXPECT_EQ(image.bytes[0], grey);
  }
  EXPECT_FALSE(source->next(image).value());
  ASSERT_EQ(source->notes().size(), 1U);
  EXPECT_NE(fakes::text_of(source->notes()[0])
                .find("2 damaged pictures without a result, the first: 0.png: no video that FFmpeg reads"),
            std::string::npos)
      << fakes::text_of(source->notes()[0]);
  fs::remove(pictures + "/a.pgm");
  fs::remove(pictures + "/b.pgm");
  fs::remove(pictures + "/d%03d.PGM");
  const auto none = open_source(options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::ErrorCode::corrupt);
  EXPECT_EQ(none.error().message.rfind(pictures + ": none of 2 pictures can be decoded; the first: 0.png: ", 0), 0U);
}

TEST_F(VideoFiles, are_pictures_by_pattern_and_by_number_too) {
  for (const int number : {9, 10, 11})
    write(path(fmt::format("img{:04}.pgm", number)), "P5\n2 1\n255\n" + std::string(2, static_cast<char>(number)));
  for (const auto& pattern : {path("img*.pgm"), path("img%04d.pgm"), "file://" + path("img*.pgm")}) {
    SourceOptions options{.source = pattern};
    options.format = PixelFormat::gray8;
    auto source = open_source(options).value();
    EXPECT_EQ(source->info().name, pattern);
    Image image;
    for (const int number : {9, 10, 11}) {
      ASSERT_TRUE(source->next(image).value());
      EXPECT_EQ(image.bytes[0], number);
    }
    EXPECT_FALSE(source->next(image).value());
  }
  write(path("[odd].pgm"), "P5\n2 1\n255\n\7\7");
  auto source = open_source({.source = path("[odd].pgm")}).value();
  EXPECT_FALSE(source->info().has_labels) << "a file that is there is itself";
}

TEST_F(VideoFiles, that_claim_huge_pictures_are_refused) {
  write(path("huge.ppm"), "P6\n32000 32000\n255\n");
  write(path("wide.ppm"), "P6\n40000 2\n255\n" + std::string(240'000, '\1'));
  for (const char* const name : {"huge.ppm", "wide.ppm"}) EXPECT_FALSE(open_source({.source = path(name)})) << name;
}

TEST_F(VideoFiles, that_cannot_be_written_are_refused) {
  EXPECT_EQ(VideoWriter::create(path("a.mp4"), {3, 2, 25}).error().code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(VideoWriter::create(path("a.what"), {4, 2, 25}).error().code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(VideoWriter::create("/nowhere/a.mp4", {4, 2, 25}).error().code, base::ErrorCode::not_found);
  auto writer = VideoWriter::create(path("a.mp4"), {64, 48, 25}).value();
  EXPECT_FALSE(writer->write(Image{2, 2, PixelFormat::bgr24, std::vector<std::uint8_t>(12)}, 0));
  EXPECT_TRUE(writer->finish());
}

}  // namespace
}  // namespace ridgeline::stream
