// SPDX-License-Identifier: Apache-2.0
#include "config/key_place.hpp"

#include <gtest/gtest.h>

namespace ridgeline::config {
namespace {

TEST(KeyPlace, is_the_usual_one_before_the_only_one) {
  const auto tree = parse_yaml("data:\n  batch: 1\ntraining:\n  batch: 2\n  rate: 3\n", "f").value();
  EXPECT_EQ(KeyPlace(tree, "batch", {"none.batch", "training.batch"}).path(), "training.batch");
  EXPECT_EQ(KeyPlace(tree, "rate", {"data.rate"}).path(), "training.rate");
  const KeyPlace several(tree, "batch");
  EXPECT_EQ(several.value(), -1);
  EXPECT_FALSE(several.absent());
  EXPECT_EQ(several.list(), "data.batch (line 2), training.batch (line 4)");
  EXPECT_TRUE(KeyPlace(tree, "steps", {"data.steps"}).absent());
}

TEST(KeyPlace, names_the_document_where_there_are_several) {
  const auto tree = parse_yaml("a: 1\n---\nb: 2\n", "f").value();
  EXPECT_EQ(KeyPlace(tree, "a").path(), "#1:a");
  EXPECT_EQ(KeyPlace(tree, "b").path(), "#2:b");
}

}  // namespace
}  // namespace ridgeline::config
