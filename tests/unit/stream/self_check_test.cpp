// SPDX-License-Identifier: Apache-2.0
#include "stream/self_check.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"

namespace ridgeline::stream {
namespace {

TEST(SelfCheck, counts_have_to_agree_exactly) {
  EXPECT_TRUE(check_counts(1000, 900, 90, 10).passed);
  const auto lost = check_counts(1000, 900, 90, 9);
  EXPECT_FALSE(lost.passed);
  EXPECT_DOUBLE_EQ(lost.value, 0.001);
  EXPECT_EQ(fakes::text_of(lost.message), "1000 offered, 900 delivered + 90 dropped + 9 in flight");
  EXPECT_FALSE(check_counts(1000, 901, 90, 10).passed);
}

TEST(SelfCheck, littles_law_holds_within_two_percent) {
  EXPECT_TRUE(check_little(6.0, 75, 80e6).passed);  // 75/s x 80 ms
  EXPECT_TRUE(check_little(6.11, 75, 80e6).passed);
  EXPECT_EQ(fakes::text_of(check_little(6.11, 75, 80e6).message),
            "6.110 frames in the pipeline, 75.0 frames/s x 80.000 ms = 6.000");
  EXPECT_FALSE(check_little(6.2, 75, 80e6).passed);
  EXPECT_TRUE(check_little(0, 0, 0).passed);
  EXPECT_FALSE(check_little(0, 75, 80e6).passed);
}

TEST(SelfCheck, stages_add_up_within_one_percent) {
  EXPECT_TRUE(check_stages(99.5e6, 100e6).passed);
  EXPECT_EQ(fakes::text_of(check_stages(99.5e6, 100e6).message), "stages add up to 99.500 ms, end to end 100.000 ms");
  EXPECT_FALSE(check_stages(98.5e6, 100e6).passed);
  EXPECT_FALSE(check_stages(102e6, 100e6).passed);
  EXPECT_TRUE(check_stages(0, 0).passed);
}

}  // namespace
}  // namespace ridgeline::stream
