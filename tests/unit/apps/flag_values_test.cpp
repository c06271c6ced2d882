// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/flag_values.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ridgeline::app {
namespace {

class FlagValues : public ::testing::Test {
 protected:
  /// What the parser refuses of `--flag VALUE`; "" when it takes it.
  std::string mistake(const std::string& value) {
    try {
      std::vector<std::string> words{value, "--flag"};  // CLI11 takes them in reverse
      cli_.parse(words);
      return "";
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
  }

  CLI::App cli_;
};

TEST_F(FlagValues, a_number_is_of_its_range) {
  int value = 3;
  add_number(cli_, "--flag", value, 1, 8, "");
  EXPECT_EQ(mistake("8"), "");
  EXPECT_EQ(value, 8);
  EXPECT_NE(mistake("9").find("--flag 9: expected"), std::string::npos) << mistake("9");
  EXPECT_NE(mistake("many"), "");
  EXPECT_NE(mistake("2.5"), "");
}

TEST_F(FlagValues, a_part_of_a_list_that_is_no_value_belongs_to_the_one_before_it) {
  const auto has_key = [](const std::string& text) { return text.find('=') != std::string::npos; };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(list_values({"a=1, b=2", "c=3"}, has_key), (Texts{"a=1", "b=2", "c=3"}));
  EXPECT_EQ(list_values({"a=1,2;3, 4,b=2"}, has_key), (Texts{"a=1,2;3, 4", "b=2"}));
  EXPECT_EQ(list_values({"a,b=2"}, has_key), (Texts{"a,b=2"}));
  EXPECT_EQ(list_values({"a=1,"}, has_key), (Texts{"a=1,"}));
  EXPECT_TRUE(list_values({}, has_key).empty());
}

TEST_F(FlagValues, a_time_is_read_with_its_unit) {
  double seconds = 60;
  add_time(cli_, "--flag", seconds, "", "1s", "1h");
  EXPECT_EQ(mistake("1m30s"), "");
  EXPECT_EQ(seconds, 90);
  EXPECT_EQ(mistake("2h"), "--flag 2h: expected a duration from 1s to 1h, such as 90s, 5m or 1h30m");
}

TEST_F(FlagValues, a_latency_without_a_unit_is_refused_as_it_may_be_milliseconds) {
  double seconds = 0;
  auto* option = cli_.add_option("--flag", seconds, "");
  check_latency(*option, "--flag", "", "");
  EXPECT_EQ(mistake("60"), "--flag 60: expected a duration with its unit: 60ms or 60s?");
  EXPECT_EQ(mistake("60ms"), "");
  EXPECT_DOUBLE_EQ(seconds, 0.06);
}

TEST_F(FlagValues, a_share_is_a_percentage_or_a_number_below_1) {
  double share = 0.03;
  add_share(cli_, "--flag", share, "");
  EXPECT_EQ(mistake("5%"), "");
  EXPECT_DOUBLE_EQ(share, 0.05);
  EXPECT_EQ(mistake("0.2"), "");
  EXPECT_DOUBLE_EQ(share, 0.2);
  EXPECT_EQ(mistake("2"), "--flag 2: expected a share from 0% to below 100%, for example 2%");
  EXPECT_EQ(share_text(0.03), "3%");
  EXPECT_EQ(time_text(300), "5m");
}

}  // namespace
}  // namespace ridgeline::app
