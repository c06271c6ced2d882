// SPDX-License-Identifier: Apache-2.0
#include "campaign/sweep_patch.hpp"

#include <gtest/gtest.h>

namespace ridgeline::campaign {
namespace {

std::string patched(const std::string& yaml, const std::vector<SweepSetting>& settings) {
  const auto result = patch_sweep_settings(yaml, "f.yaml", settings);
  return result ? result->text : "error: " + result.error().message;
}

TEST(SweepPatch, writes_values_where_the_file_has_them) {
  EXPECT_EQ(
      patched("# mine\ndata:\n  batch: 32   # small\n  workers: 0\n", {{"batch", "", "64"}, {"workers", "", "4"}}),
      "# mine\ndata:\n  batch: 64   # small\n  workers: 4\n");
  EXPECT_EQ(patched("lr: 0.1\n", {{"lr", "", "0.01"}}), "lr: 0.01\n");
  EXPECT_EQ(patched("a: 1\n", {{"a", "", "1"}}), "a: 1\n");
  EXPECT_EQ(patched("opt: adam\n", {{"opt", "", "sgd"}}), "opt: sgd\n");
  EXPECT_EQ(patched("amp: false\n", {{"amp", "", "true"}}), "amp: true\n");
}

TEST(SweepPatch, follows_the_paths_that_it_is_given) {
  EXPECT_EQ(patched("data:\n  batch_size: 32\n", {{"batch", "data.batch_size", "64"}}), "data:\n  batch_size: 64\n");
}

TEST(SweepPatch, adds_what_is_absent) { EXPECT_EQ(patched("a: 1\n", {{"b", "", "2"}}), "a: 1\nb: 2\n"); }

TEST(SweepPatch, refuses_what_it_cannot_know) {
  EXPECT_NE(patched("a:\n  n: 1\nb:\n  n: 2\n", {{"n", "", "3"}}).find("several places"), std::string::npos);
  EXPECT_NE(patched("n: [1, 2]\n", {{"n", "", "3"}}).find("expected a single value"), std::string::npos);
  EXPECT_NE(patched("n: ${N}\n", {{"n", "", "3"}}).find("another program fills in"), std::string::npos);
  EXPECT_NE(patched("n: [1\n", {{"n", "", "3"}}).find("f.yaml:"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::campaign
