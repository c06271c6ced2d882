// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

namespace ridgeline::base {
namespace {

using std::chrono::nanoseconds;

TEST(Text, the_nearest_name_is_a_likely_slip_or_nothing) {
  const std::vector<std::string> names{"noise", "drift", "intra_op_num_threads"};
  EXPECT_EQ(nearest_name("nois", names), "noise");
  EXPECT_EQ(nearest_name("intra_op_threads", names), "intra_op_num_threads");
  EXPECT_EQ(nearest_name("completely_else", names), "");
  EXPECT_EQ(did_you_mean("nois", names), "did you mean \"noise\"?");
  EXPECT_EQ(did_you_mean("xyzzyxyz", names), "");
}

TEST(Text, splits_and_trims) {
  EXPECT_EQ(split("a,b,,c", ','), (std::vector<std::string>{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

TEST(Text, numbers_are_read_whole_or_not_at_all) {
  EXPECT_EQ(parse_integer("-12", "x"), -12);
  for (const auto* bad : {"", "1x", " 1", "1.5", "99999999999999999999"}) EXPECT_FALSE(parse_integer(bad, "x")) << bad;
  EXPECT_DOUBLE_EQ(parse_number("1.5e3", "x").value(), 1500);
  for (const auto* bad : {"", "nan", "inf", "1,5", "1e999", "--1"}) EXPECT_FALSE(parse_number(bad, "x")) << bad;
  const auto error = parse_integer("abc", "--runs").error();
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_NE(error.message.find("--runs"), std::string::npos);
  EXPECT_NE(error.message.find("abc"), std::string::npos);
}

TEST(Text, durations_take_units_and_sums) {
  EXPECT_EQ(parse_duration("250ms", "t"), nanoseconds(250'000'000));
  EXPECT_EQ(parse_duration("2", "t"), std::chrono::seconds(2));
  EXPECT_EQ(parse_duration("1h30m", "t"), std::chrono::minutes(90));
  EXPECT_EQ(parse_duration("1.5us", "t"), nanoseconds(1500));
  EXPECT_EQ(parse_duration("1.5µs", "t"), nanoseconds(1500));
  for (const auto* bad : {"", "0", "-1s", "5 parsecs", "1h-3m", "s", "1e400s", "99999999h"})
    EXPECT_FALSE(parse_duration(bad, "t")) << bad;
}

TEST(Text, sizes_have_a_unit) {
  EXPECT_EQ(parse_bytes("500MB", "t"), 500'000'000);
  EXPECT_EQ(parse_bytes("2 GB", "t"), 2'000'000'000);
  EXPECT_EQ(parse_bytes("1.5GiB", "t"), 1'610'612'736);
  for (const auto* bad : {"", "2", "GB", "0MB", "-1MB", "2XB", "1e300GB", "2GBs"})
    EXPECT_FALSE(parse_bytes(bad, "t")) << bad;
}

TEST(Text, ratios_are_percent_or_plain) {
  EXPECT_DOUBLE_EQ(parse_ratio("2%", "r").value(), 0.02);
  EXPECT_DOUBLE_EQ(parse_ratio("0.02", "r").value(), 0.02);
  EXPECT_FALSE(parse_ratio("%", "r"));
  EXPECT_FALSE(parse_ratio("two", "r"));
}

TEST(Text, durations_print_with_three_digits_and_the_fitting_unit) {
  EXPECT_EQ(format_duration(812), "812 ns");
  EXPECT_EQ(format_duration(1.234e6), "1.23 ms");
  EXPECT_EQ(format_duration(12.34e6), "12.3 ms");
  EXPECT_EQ(format_duration(999.9e6), "1.00 s");
  EXPECT_EQ(format_duration(125e9), "2 m 05 s");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(4.52 * 1048576), "4.52 MiB");
}

}  // namespace
}  // namespace ridgeline::base
