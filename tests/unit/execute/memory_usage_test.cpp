// SPDX-License-Identifier: Apache-2.0
#include "execute/memory_usage.hpp"

namespace ridgeline::execute {
namespace {

TEST(MemoryUsage, the_peak_covers_what_was_touched) {
  const auto before = peak_rss_bytes();
  ASSERT_TRUE(before);
  EXPECT_GT(*before, 1 << 20);
  const std::string block(std::size_t{64} << 20U, '\1');
  const auto with = peak_rss_bytes();
  ASSERT_TRUE(with);
  EXPECT_GT(*with, static_cast<std::int64_t>(block.size()));
}

}  // namespace
}  // namespace ridgeline::execute
