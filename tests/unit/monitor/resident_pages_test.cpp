// SPDX-License-Identifier: Apache-2.0
#include "monitor/resident_pages.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"

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

bool kernel_pages_out() {
  void* const memory = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool can = ::madvise(memory, kPage, MADV_FREE) == 0 && ::madvise(memory, kPage, MADV_PAGEOUT) == 0;
  ::munmap(memory, kPage);
  return can;
}

TEST(ResidentPages, zeros_are_given_back_and_nothing_else) {
  if (!kernel_pages_out()) GTEST_SKIP() << "this kernel does not page out on demand";
  use_table();
  const auto before = resident_kb("RssAnon:");
  release_zero_pages();
  EXPECT_LT(resident_kb("RssAnon:"), before - 7000) << "of 8192 KiB";
  for (std::size_t page = 0; page < kPages; ++page)
    EXPECT_EQ(static_cast<int>(table[page * kPage + 17]), page % 100 == 0 ? 1 : 0) << page;
}

TEST(ResidentPages, what_another_thread_writes_meanwhile_is_kept) {
  use_table();
  std::atomic<bool> enough = false;
  long written = 0;
  long lost = 0;
  std::thread other([&] {
    base::Random random(1);
    std::vector<std::byte> expected(kPages);
    for (std::size_t page = 0; page < kPages; ++page) expected[page] = table[page * kPage + 17];
    while (!enough) {
      const auto page = static_cast<std::size_t>(random.below(kPages));
      lost += table[page * kPage + 17] != expected[page];
      expected[page] = static_cast<std::byte>(random.below(2));
      table[page * kPage + 17] = expected[page];
      ++written;
    }
    for (std::size_t page = 0; page < kPages; ++page) lost += table[page * kPage + 17] != expected[page];
  });
  for (int i = 0; i < 15; ++i) release_zero_pages();
  enough = true;
  other.join();
  EXPECT_GT(written, 0);
  EXPECT_EQ(lost, 0) << "of " << written;
}

}  // namespace
}  // namespace ridgeline::monitor
