// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "stats/rounds.hpp"

namespace ridgeline::stats {
namespace {

/// Two ABBA rounds a round; `disturbed` names rounds.
std::vector<AbbaRoundMark> abba_rounds(int rounds, const std::vector<int>& disturbed) {
  std::vector<AbbaRoundMark> marks;
  for (int round = 0; round < rounds; ++round)
    for (int abba_round = 0; abba_round < 2; ++abba_round)
      marks.push_back({round, std::find(disturbed.begin(), disturbed.end(), round) != disturbed.end()});
  return marks;
}

TEST(CountedRounds, all_count_on_a_quiet_machine) {
  EXPECT_EQ(counted_rounds(abba_rounds(3, {})), (std::vector<int>{0, 0, 1, 1, 2, 2})) << "half a turn, too";
  EXPECT_EQ(counted_rounds(abba_rounds(4, {})), (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(CountedRounds, a_disturbed_round_takes_the_other_of_its_turn_along) {
  EXPECT_EQ(counted_rounds(abba_rounds(6, {2})), (std::vector<int>{0, 0, 1, 1, -1, -1, -1, -1, 2, 2, 3, 3}));
}

TEST(CountedRounds, a_single_disturbed_abba_round_goes_alone) {
  auto marks = abba_rounds(4, {});
  marks[3].disturbed = true;
  EXPECT_EQ(counted_rounds(marks), (std::vector<int>{0, 0, 1, -1, 2, 2, 3, 3}));
}

TEST(CountedRounds, where_too_few_are_left_all_count) {
  EXPECT_EQ(counted_rounds(abba_rounds(4, {0, 1, 2, 3})), (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
  auto marks = abba_rounds(2, {});
  marks[0].disturbed = true;  // leaves three
  EXPECT_EQ(counted_rounds(marks), (std::vector<int>{0, 0, 1, 1}));
}

TEST(CountedRounds, one_pair_of_sessions_has_no_turn) {
  std::vector<AbbaRoundMark> marks(6);
  marks[5].disturbed = true;
  EXPECT_EQ(counted_rounds(marks), (std::vector<int>{0, 0, 0, 0, 0, -1}));
}

}  // namespace
}  // namespace ridgeline::stats
