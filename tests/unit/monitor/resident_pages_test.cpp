// SPDX-License-Identifier: Apache-2.0
#include "monitor/resident_pages.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include "fakes/sanitizer.hpp"

namespace ridgeline::monitor {
namespace {

long resident_kb(const std::string& kind) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == kind) {
      long kb = 0;
      status >> kb;
      return kb;
    }
  return -1;
}

TEST(ResidentPages, most_of_the_code_that_started_the_program_is_given_back) {
  const auto before = resident_kb("RssFile:");
  ASSERT_GT(before, 0);
  release_start_up_pages();
  EXPECT_LT(resident_kb("RssFile:"), before * 2 / 3);
}

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 2048;
volatile std::byte table[kPages * kPage];

/// Touches every page of the table; every hundredth one is left with something in it.
void use_table() {
  for (std::size_t page = 0; page < kPages; ++page) {
    table[page * kPage + 17] = std::byte{1};
    if (page % 100 != 0) table[page * kPage + 17] = std::byte{0};
  }
}

TEST(ResidentPages, zeros_are_given_back_and_nothing_else) {
  if (RL_UNDER_SANITIZER) GTEST_SKIP() << "sanitizers have threads of their own";
  use_table();
  const auto before = resident_kb("RssAnon:");
  release_zero_pages();
  EXPECT_LT(resident_kb("RssAnon:"), before - 7000) << "of 8192 KiB";
  for (std::size_t page = 0; page < kPages; ++page)
    EXPECT_EQ(static_cast<int>(table[page * kPage + 17]), page % 100 == 0 ? 1 : 0) << page;
}

TEST(ResidentPages, zeros_stay_while_another_thread_might_write_to_them) {
  use_table();
  const auto before = resident_kb("RssAnon:");
  std::promise<void> done;
  std::thread other([waits = done.get_future()] { waits.wait(); });
  release_zero_pages();
  const auto after = resident_kb("RssAnon:");
  done.set_value();
  other.join();
  EXPECT_GT(after, before - 1000);
}

}  // namespace
}  // namespace ridgeline::monitor
