// SPDX-License-Identifier: Apache-2.0
#include "execute/arrival_trace.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ridgeline::execute {
namespace {

TEST(ArrivalTrace, seconds_a_line) {
  const auto times = parse_arrival_trace("# of the gate\n0\n0.04 # a pair\n0.04\r\n\n1e0\n1.5", "gate.txt");
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(*times, (std::vector<std::int64_t>{0, 40'000'000, 40'000'000, 1'000'000'000, 1'500'000'000}));
}

TEST(ArrivalTrace, says_which_line_is_wrong) {
  const auto error_of = [](const char* text) {
    const auto times = parse_arrival_trace(text, "gate.txt");
    return times ? std::string() : times.error().message;
  };
  EXPECT_EQ(error_of("0\n0.5\n0.4\n"), "gate.txt:3: \"0.4\"; expected a time that is not before the one above it");
  for (const auto* text : {"0\n-1", "0\nnan", "0\n0.5s", "0\n1,5", "0\ninf", "0\n1e30"})
    EXPECT_NE(error_of(text).find("gate.txt:2: "), std::string::npos) << text;
  EXPECT_EQ(error_of("# nothing\n"), "gate.txt: no times in it; expected seconds, one a line");
  EXPECT_EQ(error_of(""), "gate.txt: no times in it; expected seconds, one a line");
}

}  // namespace
}  // namespace ridgeline::execute
