// SPDX-License-Identifier: Apache-2.0
#include "monitor/view_state.hpp"

#include <gtest/gtest.h>

#include "fakes/machine_snapshot.hpp"

namespace ridgeline::monitor {
namespace {

using Kind = KeyPress::Kind;

class ViewStateTest : public ::testing::Test {
 protected:
  ViewStateTest() {
    for (int i = 1; i < 4; ++i) snapshot_.gpus.push_back(fakes::busy_gpu(i));
  }
  void type(const char* letters) {
    for (; *letters != 0; ++letters) view_.press({Kind::character, static_cast<char32_t>(*letters)}, snapshot_);
  }
  void press(Kind kind, int times = 1) {
    for (int i = 0; i < times; ++i) view_.press({kind}, snapshot_);
  }
  Snapshot snapshot_ = fakes::busy_machine();
  ViewState view_;
};

TEST_F(ViewStateTest, selects_gpus_within_what_is_there) {
  press(Kind::right, 9);
  EXPECT_EQ(view_.selected, 3);
  press(Kind::left, 2);
  EXPECT_EQ(view_.selected, 1);
  press(Kind::left, 9);
  EXPECT_EQ(view_.selected, 0);
  type("2");
  EXPECT_EQ(view_.selected, 2);
  type("9");
  EXPECT_EQ(view_.selected, 2);
  type("\t\t");
  EXPECT_EQ(view_.selected, 0);
}

TEST_F(ViewStateTest, scrolls_within_the_processes) {
  press(Kind::up);
  EXPECT_EQ(view_.scroll, 0);
  press(Kind::page_down);
  EXPECT_EQ(view_.scroll, 2);
  press(Kind::home);
  press(Kind::down);
  EXPECT_EQ(view_.scroll, 1);
}

TEST_F(ViewStateTest, sorts_by_letter_or_in_turn) {
  type("s");
  EXPECT_EQ(view_.order.key, SortKey::sm);
  type("r");
  EXPECT_FALSE(view_.order.descending);
  type("U");
  EXPECT_EQ(view_.order.key, SortKey::user);
  EXPECT_FALSE(view_.order.descending) << "texts rise at first";
  type("UM");
  EXPECT_TRUE(view_.order.descending);
  for (int i = 0; i < static_cast<int>(SortKey::count); ++i) type("s");
  EXPECT_EQ(view_.order.key, SortKey::gpu_memory);
}

TEST_F(ViewStateTest, edits_the_filter_with_every_letter) {
  type("/qs é");
  EXPECT_FALSE(view_.quit);
  view_.order.filter.clear();
  type("ab");
  view_.press({Kind::character, U'é'}, snapshot_);
  EXPECT_EQ(view_.order.filter, "abé");
  press(Kind::backspace);
  EXPECT_EQ(view_.order.filter, "ab");
  press(Kind::enter);
  EXPECT_FALSE(view_.editing_filter);
  EXPECT_EQ(view_.order.filter, "ab");
  press(Kind::escape);
  EXPECT_EQ(view_.order.filter, "");
  type("/x");
  press(Kind::escape);
  EXPECT_EQ(view_.order.filter, "");
  EXPECT_FALSE(view_.editing_filter);
  press(Kind::backspace);  // of nothing
}

TEST_F(ViewStateTest, closes_the_help_with_any_key) {
  type("?");
  EXPECT_TRUE(view_.help);
  type("q");
  EXPECT_FALSE(view_.help);
  EXPECT_FALSE(view_.quit);
  type("q");
  EXPECT_TRUE(view_.quit);
}

TEST_F(ViewStateTest, keeps_the_interval_within_bounds) {
  for (int i = 0; i < 20; ++i) type("-");
  EXPECT_EQ(view_.interval, ViewState::kShortestInterval);
  for (int i = 0; i < 20; ++i) type("+");
  EXPECT_EQ(view_.interval, ViewState::kLongestInterval);
}

TEST_F(ViewStateTest, does_nothing_wrong_without_gpus) {
  snapshot_.gpus.clear();
  snapshot_.processes.clear();
  press(Kind::right);
  press(Kind::end);
  type("3\ta ");
  EXPECT_EQ(view_.selected, 0);
  EXPECT_EQ(view_.scroll, 0);
  EXPECT_TRUE(view_.paused);
}

}  // namespace
}  // namespace ridgeline::monitor
