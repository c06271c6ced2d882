// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/loader_cost.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "campaign/messages.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Message;

TEST(LoaderCost, names_the_transforms_that_take_a_tenth_of_a_sample) {
  EXPECT_EQ(loader_cost({{"Resize", 6}, {"Crop", 1}, {"Flip", 0.9}}, 10),
            (std::vector<Message>{messages::bench_transform({.name = "Resize", .ms = 6, .sample_ms = 10}),
                                  messages::bench_transform({.name = "Crop", .ms = 1, .sample_ms = 10})}));
}

TEST(LoaderCost, says_that_none_does_and_that_none_is_shown) {
  EXPECT_EQ(loader_cost({{"Flip", 0.9}}, 10), std::vector<Message>{messages::bench_cheap_transforms(10)});
  EXPECT_EQ(loader_cost({}, 10), std::vector<Message>{messages::bench_no_transforms(10)});
}

}  // namespace
}  // namespace ridgeline::campaign
