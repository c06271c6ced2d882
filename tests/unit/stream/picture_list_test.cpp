// SPDX-License-Identifier: Apache-2.0
#include "stream/sources/picture_list.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "fakes/words.hpp"

namespace ridgeline::stream {
namespace {

using Names = std::vector<std::string>;

class PictureLists : public testing::Test {
 protected:
  void make(const Names& names) const {
    for (const auto& name : names) {
      std::filesystem::create_directories((folder_.path() / name).parent_path());
      std::ofstream(folder_.path() / name) << "x";
    }
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  base::ScratchFolder folder_{"pictures"};
};

TEST(NaturalOrder, takes_numbers_by_their_value) {
  const Names ordered{"",
                      "1.png",
                      "2.png",
                      "10.png",
                      "a1b2",
                      "a1b10",
                      "a02",
                      "a2",
                      "a3-1.x",
                      "a3-02.x",
                      "a3-2.x",
                      "b",
                      "b0",
                      "b00",
                      "b1",
                      "img9",
                      "img10",
                      "img010",
                      "img10000",
                      "img99999999999",
                      "img99999999999999999999999"};
  for (std::size_t i = 0; i < ordered.size(); ++i)
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      if (ordered[i] == "img010" || ordered[j] == "img010" || ordered[i] == "b00" || ordered[j] == "b00") continue;
      EXPECT_EQ(natural_less(ordered[i], ordered[j]), i < j) << ordered[i] << " " << ordered[j];
    }
  EXPECT_NE(natural_less("img010", "img10"), natural_less("img10", "img010")) << "an order of all different names";
  EXPECT_FALSE(natural_less("a1", "a1"));
}

TEST_F(PictureLists, of_a_folder_are_in_natural_order) {
  make({"f10.png", "f9.png", "a.jpg", "B.PNG", "notes.txt", "inner/f1.png"});
  const auto list = pictures_in(folder_.path()).value();
  EXPECT_EQ(list.names, (Names{"B.PNG", "a.jpg", "f9.png", "f10.png"}));
  EXPECT_TRUE(list.notes.empty());
  make({"empty/x.txt"});
  EXPECT_EQ(pictures_in(path("empty")).error().message, path("empty") + ": no pictures in this folder");
}

TEST_F(PictureLists, of_a_pattern_are_told_from_the_folder_that_they_share) {
  make({"day/c10.jpg", "day/c2.jpg", "day/c2.png", "day/notes.txt", "night/c1.jpg"});
  EXPECT_EQ(pictures_like(path("day/*.jpg"))->names, (Names{"c2.jpg", "c10.jpg"}));
  EXPECT_EQ(pictures_like(path("day/c?.{jpg,png}"))->names, (Names{"c2.jpg", "c2.png"}));
  EXPECT_EQ(pictures_like(path("*/c[12].jpg"))->names, (Names{"day/c2.jpg", "night/c1.jpg"}));
  const auto mixed = pictures_like(path("day/*")).value();
  EXPECT_EQ(mixed.names.size(), 3U);
  EXPECT_EQ(fakes::texts_of(mixed.notes),
            (Names{path("day/*") + ": 1 file left out, because the name is not that of a picture"}));
}

TEST_F(PictureLists, of_a_pattern_that_nothing_fits_are_refused_in_one_line) {
  make({"a.txt"});
  const auto none = pictures_like(path("*.jpg"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::ErrorCode::not_found);
  EXPECT_EQ(none.error().message, path("*.jpg") + ": no file fits this pattern");
  EXPECT_EQ(pictures_like(path("*.txt")).error().message,
            path("*.txt") + ": 1 file fits it, none named like a picture");
}

TEST_F(PictureLists, by_number_begin_where_there_is_one) {
  make({"img0007.png", "img0008.png", "img0010.png", "img10000.png", "img00009.png", "img7.png", "img0007.jpg"});
  const auto list = numbered_pictures(path("img%04d.png")).value();
  EXPECT_EQ(list.names, (Names{"img0007.png", "img0008.png", "img0010.png", "img10000.png"}));
  EXPECT_EQ(fakes::texts_of(list.notes),
            (Names{path("img%04d.png") + ": 4 pictures from 7 to 10000, 9990 numbers missing"}));
  EXPECT_EQ(numbered_pictures(path("img%d.png"))->names, (Names{"img7.png", "img10000.png"}));
  make({"100%-1.png", "100%-2.png"});
  const auto percent = numbered_pictures(path("100%%-%d.png")).value();
  EXPECT_EQ(percent.names, (Names{"100%-1.png", "100%-2.png"}));
  EXPECT_TRUE(percent.notes.empty());
}

TEST_F(PictureLists, by_number_that_are_not_there_are_refused) {
  make({"img1.png"});
  const auto none = numbered_pictures(path("img%04d.png"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, base::ErrorCode::not_found);
  EXPECT_EQ(none.error().message, path("img%04d.png") + ": no file with a number in this place");
  EXPECT_EQ(none.error().hint, "expected img0001.png, for example");
  EXPECT_EQ(numbered_pictures(path("a%d-%d.png")).error().code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(numbered_pictures(path("no/such/%d.png")).error().code, base::ErrorCode::not_found);
}

TEST(PicturePatterns, are_told_from_names) {
  for (const auto* text : {"*.jpg", "a?.png", "[ab].png", "a.{jpg,png}"}) EXPECT_TRUE(is_glob(text)) << text;
  for (const auto* text : {"a.jpg", "a].jpg", "a{.jpg", "a}b{.jpg", "img%04d.png"}) EXPECT_FALSE(is_glob(text)) << text;
  for (const auto* text : {"img%04d.png", "a/%d.png", "%d-%d.png", "%%%d.png"}) EXPECT_TRUE(is_numbered(text)) << text;
  for (const auto* text : {"img.png", "100%.png", "%s.png", "%04d/a.png", "%%d.png", "%5d.png", "%.png"})
    EXPECT_FALSE(is_numbered(text)) << text;
}

}  // namespace
}  // namespace ridgeline::stream
