// SPDX-License-Identifier: Apache-2.0
#include "campaign/sweep/sweep_patch.hpp"

#include <gtest/gtest.h>

namespace ridgeline::campaign {
namespace {

std::string patched(const std::string& yaml, const std::vector<SweepSetting>& settings) {
  const auto result = patch_sweep_settings(yaml, "f.yaml", settings);
  return result ? result->text : "error: " + base::error_line(result.error());
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

TEST(SweepPatch, a_name_that_is_nowhere_is_not_added) {
  const std::vector<SweepSetting> both{{"a", "", "2"}, {"b", "", "3"}};
  EXPECT_EQ(patched("a: 1\n", both), "a: 2\n");
  EXPECT_EQ(*names_without_place("a: 1\n", "f.yaml", both), std::vector<std::string>{"b"});
  EXPECT_EQ(
      patched("c: 1\n", both),
      "error: f.yaml: nothing can be written, the file has no a, no b; add the names, or say where with --apply-to "
      "a=PATH");
  EXPECT_NE(patched("", {{"a", "", "2"}}).find("the file has no a; add the name,"), std::string::npos);
  // A path is a place that the user named.
  EXPECT_EQ(patched("a: 1\n", {{"b", "c.d", "2"}}), "a: 1\nc:\n  d: 2\n");
}

TEST(SweepPatch, refuses_what_it_cannot_know) {
  EXPECT_NE(patched("a:\n  n: 1\nb:\n  n: 2\n", {{"n", "", "3"}}).find("several places"), std::string::npos);
  EXPECT_NE(patched("n: [1, 2]\n", {{"n", "", "3"}}).find("expected a single value"), std::string::npos);
  EXPECT_NE(patched("n: ${N}\n", {{"n", "", "3"}}).find("another program fills in"), std::string::npos);
  const auto anchored = patched("n: &n 1\nm: *n\n", {{"n", "", "3"}});
  EXPECT_NE(anchored.find("--apply-to n=PATH"), std::string::npos) << anchored;
  EXPECT_EQ(anchored.find("--space"), std::string::npos) << anchored;
  EXPECT_NE(patched("n: [1\n", {{"n", "", "3"}}).find("f.yaml:"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::campaign
