// SPDX-License-Identifier: Apache-2.0
#include "measure/host_load.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace ridgeline::measure {
namespace {

using Counters = HostLoad::Counters;

TEST(HostLoad, what_others_took_is_what_this_process_did_not_use) {
  EXPECT_DOUBLE_EQ(HostLoad::taken(Counters{10, 5, 3, 100}, Counters{12, 5, 4, 101}), 1);
  EXPECT_DOUBLE_EQ(HostLoad::taken(Counters{10, 5, 3, 100}, Counters{12, 5, 5, 101}), 0) << "all of it was its own";
}

TEST(HostLoad, where_cpus_are_idle_nothing_is_taken) {
  // Of 16 CPUs others use 2, this process 8.
  EXPECT_DOUBLE_EQ(HostLoad::taken(Counters{0, 0, 0, 0}, Counters{10, 6, 8, 1}), 0);
  // A pause of this process is no room: others use 1 of 2 CPUs.
  EXPECT_DOUBLE_EQ(HostLoad::taken(Counters{0, 0, 0, 0}, Counters{1.7, 0.3, 0.7, 1}), 1);
}

TEST(HostLoad, too_short_a_time_or_no_reading_says_nothing) {
  EXPECT_EQ(HostLoad::taken(Counters{0, 0, 0, 0}, Counters{0.1, 0, 0, 0.05}), 0);
  EXPECT_EQ(HostLoad::taken(std::nullopt, Counters{1, 0, 0, 1}), 0);
  EXPECT_EQ(HostLoad::taken(Counters{}, std::nullopt), 0);
}

TEST(HostLoad, its_own_work_is_not_that_of_others) {
  const auto before = HostLoad::read();
  if (!before) GTEST_SKIP() << "/proc/stat cannot be read here";
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (std::chrono::steady_clock::now() < end) {
  }
  const auto after = HostLoad::read();
  ASSERT_TRUE(after);
  EXPECT_GT(after->own_s - before->own_s, 0.05);
  EXPECT_GE(after->busy_s, before->busy_s);
  EXPECT_GE(after->wall_s - before->wall_s, 0.2);
}

}  // namespace
}  // namespace ridgeline::measure
