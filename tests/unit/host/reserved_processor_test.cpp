// SPDX-License-Identifier: Apache-2.0
#include "host/reserved_processor.hpp"

#include <sched.h>

#include <thread>

#include <gtest/gtest.h>

namespace ridgeline::host {
namespace {

cpu_set_t allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  return set;
}

TEST(ReservedProcessor, is_kept_from_the_threads_that_start_later_and_taken_of_many_only) {
  std::thread([] {  // so that the test's own thread keeps its processors
    const auto before = allowed();
    const auto reserved = ReservedProcessor::take();
    if (CPU_COUNT(&before) < ReservedProcessor::kLeastProcessors) {
      EXPECT_FALSE(reserved);
      const auto after = allowed();
      EXPECT_TRUE(CPU_EQUAL(&before, &after));
      return;
    }
    ASSERT_TRUE(reserved);
    EXPECT_EQ(reserved->left(), CPU_COUNT(&before) - 1);
    std::thread([&] {
      const auto others = allowed();
      EXPECT_EQ(CPU_COUNT(&others), CPU_COUNT(&before) - 1);
    }).join();
    ASSERT_TRUE(reserved->enter());
    const auto own = allowed();
    EXPECT_EQ(CPU_COUNT(&own), 1);
  })
      .join();
}

}  // namespace
}  // namespace ridgeline::host
