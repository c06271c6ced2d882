// SPDX-License-Identifier: Apache-2.0
#include "monitor/resident_pages.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace ridgeline::monitor {
namespace {

long resident_file_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "RssFile:") {
      long kb = 0;
      status >> kb;
      return kb;
    }
  return -1;
}

TEST(ResidentPages, most_of_the_code_that_started_the_program_is_given_back) {
  const auto before = resident_file_kb();
  ASSERT_GT(before, 0);
  release_start_up_pages();
  EXPECT_LT(resident_file_kb(), before * 2 / 3);
}

}  // namespace
}  // namespace ridgeline::monitor
