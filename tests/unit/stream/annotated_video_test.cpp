// SPDX-License-Identifier: Apache-2.0
// Videos of results, read back; skipped where the plug-in is not built.
#include "stream/annotated_video.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "stream/annotating_sink.hpp"
#include "stream/open_source.hpp"

namespace ridgeline::stream {
namespace {

class AnnotatedVideos : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto library = VideoLibrary::open(); !library) GTEST_SKIP() << base::error_line(library.error());
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  static std::shared_ptr<const Image> black(int width = 63, int height = 48) {
    auto image = std::make_shared<Image>();
    image->width = width;
    image->height = height;
    image->bytes.assign(image_bytes(width, height, image->format), 0);
    return image;
  }
  /// All frames of a file.
  static std::vector<Image> read(const std::string& file) {
    std::vector<Image> frames;
    auto source = open_source({.source = file});
    if (!source) ADD_FAILURE() << source.error().message;
    while (source) {
      Image image;
      const auto pts = (*source)->next(image);
      if (!pts || !*pts) break;
      frames.push_back(std::move(image));
    }
    return frames;
  }
  static int brightest(const Image& image) { return *std::max_element(image.bytes.begin(), image.bytes.end()); }

  base::ScratchFolder folder_{"annotated"};
};

TEST_F(AnnotatedVideos, have_every_frame_with_its_result_or_its_gap) {
  auto video = AnnotatedVideo::create({.path = path("out.mp4"), .width = 63, .height = 48, .fps = 25});
  ASSERT_TRUE(video) << video.error().message;
  for (int i = 0; i < 40; ++i)
    (*video)->add({black(i == 20 ? 200 : 63), i % 2 == 0 ? R"({"boxes":[{"box":[9,20,50,40],"class":3}]})" : "{}",
                   i == 7 ? "deadline" : "", i * 40'000'000LL});
  const auto& totals = (*video)->finish();
  EXPECT_FALSE(totals.error);
  EXPECT_EQ(totals.written, 40U);
  EXPECT_EQ(totals.left_out, 0U);
  const auto frames = read(path("out.mp4"));
  ASSERT_EQ(frames.size(), 40U);
  EXPECT_EQ(frames[0].width, 64) << "even";
  EXPECT_GT(brightest(frames[0]), 90);
  EXPECT_LT(brightest(frames[1]), 40);
  EXPECT_GT(brightest(frames[7]), 90) << "says why";
}

TEST_F(AnnotatedVideos, leave_out_what_comes_too_fast_for_a_camera) {
  auto video =
      AnnotatedVideo::create({.path = path("out.mkv"), .width = 640, .height = 480, .fps = 25, .may_wait = false});
  ASSERT_TRUE(video) << video.error().message;
  for (int i = 0; i < 200; ++i) (*video)->add({i == 3 ? nullptr : black(640, 480), "{}", "", i * 1'000'000LL});
  const auto totals = (*video)->finish();
  EXPECT_FALSE(totals.error);
  EXPECT_GT(totals.left_out, 0U);
  EXPECT_EQ(totals.left_out + totals.written, 200U);
  EXPECT_EQ(read(path("out.mkv")).size(), totals.written);
}

TEST_F(AnnotatedVideos, say_what_keeps_them_from_being_written) {
  const auto unknown = AnnotatedVideo::create({.path = path("out.txt"), .width = 64, .height = 48});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("out.txt: no video container has this ending"), std::string::npos)
      << unknown.error().message;
  EXPECT_FALSE(AnnotatedVideo::create({.path = path("no/out.mp4"), .width = 64, .height = 48}));
  std::filesystem::create_symlink("/dev/full", path("full.mkv"));
  std::vector<std::string> told;
  auto full = AnnotatedVideo::create(
      {.path = path("full.mkv"), .width = 640, .height = 480, .on_error = [&](const base::Error& error) {
         told.push_back(error.message);
       }});
  if (full) {
    for (int i = 0; i < 300; ++i) (*full)->add({black(640, 480), "{}", "", i * 40'000'000LL});
    const auto& totals = (*full)->finish();
    ASSERT_TRUE(totals.error);
    EXPECT_EQ(told.size(), 1U);
    EXPECT_NE(told.front().find("no space left on device"), std::string::npos) << told.front();
  } else {
    EXPECT_NE(full.error().message.find("no space left on device"), std::string::npos) << full.error().message;
  }
}

TEST_F(AnnotatedVideos, without_frames_are_no_files) {
  {
    const auto video = AnnotatedVideo::create({.path = path("none.mp4"), .width = 64, .height = 48});
    ASSERT_TRUE(video);
    EXPECT_TRUE(std::filesystem::exists(path("none.mp4")));
  }
  EXPECT_FALSE(std::filesystem::exists(path("none.mp4")));
}

}  // namespace
}  // namespace ridgeline::stream
