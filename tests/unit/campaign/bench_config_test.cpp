// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench_config.hpp"

#include <gtest/gtest.h>

namespace ridgeline::campaign {
namespace {

constexpr const char* kOld = R"(benchmark:
  batch_sizes: [128, 256, 512]
  num_workers_options: [4, 8, 12]
  steps_per_test: 20
  test_mixed_precision: true
  test_pin_memory: no
data:
  batch_size: 128   # as it was
  num_workers: 4
  pin_memory: false
training:
  use_amp: false
  gradient_accumulation_steps: 2
  learning_rate: 1e-3
)";

TEST(BenchConfig, reads_the_older_tools_file_with_lines) {
  const auto config = parse_bench_config(kOld, "bench.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(*config->batch_sizes, (std::vector<std::int64_t>{128, 256, 512}));
  EXPECT_EQ(*config->num_workers_options, (std::vector<int>{4, 8, 12}));
  EXPECT_EQ(config->steps_per_test, 20);
  EXPECT_EQ(config->test_mixed_precision, true);
  EXPECT_EQ(config->test_pin_memory, false);
  EXPECT_EQ(config->batch_size, 128);
  EXPECT_EQ(config->gradient_accumulation_steps, 2);
  EXPECT_DOUBLE_EQ(*config->learning_rate, 1e-3);
  EXPECT_EQ(config->lines.at("benchmark.num_workers_options"), 3);
}

TEST(BenchConfig, an_empty_file_says_nothing) {
  EXPECT_TRUE(parse_bench_config("", "bench.yaml"));
  EXPECT_FALSE(parse_bench_config("benchmark:\n", "bench.yaml")->batch_sizes);
}

void expect_refusal(const char* yaml, const char* text) {
  const auto config = parse_bench_config(yaml, "bench.yaml");
  ASSERT_FALSE(config) << yaml;
  EXPECT_EQ(config.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(config.error().message.find(text), std::string::npos) << config.error().message;
}

TEST(BenchConfig, slips_are_named_with_place_and_nearest_key) {
  expect_refusal("benchmark:\n  batch_size: [1]\n",
                 "bench.yaml:2:3: unknown key \"batch_size\" in benchmark, did you mean \"batch_sizes\"?");
  expect_refusal("benchmrk:\n  batch_sizes: [1]\n", "did you mean \"benchmark\"");
  expect_refusal("benchmark: {batch_sizes: [0]}\n", "benchmark.batch_sizes=0 is not legal");
  expect_refusal("benchmark: {batch_sizes: []}\n", "empty list");
  expect_refusal("benchmark: {num_workers_options: [many]}\n", "many");
  expect_refusal("data: {pin_memory: perhaps}\n", "perhaps");
  expect_refusal("training: {learning_rate: -1}\n", "above 0");
  expect_refusal("benchmark: 3\n", "expected a mapping");
  expect_refusal("- a\n", "expected the sections");
  expect_refusal("benchmark: {\n", "bench.yaml");
}

TEST(TrainingPatch, changes_the_values_and_nothing_else) {
  const auto patch = patch_training_settings(kOld, "default.yaml", {256, 8, schema::AmpMode::bf16, true});
  ASSERT_TRUE(patch) << patch.error().message;
  std::string expected = kOld;
  const auto swap = [&](const std::string& from, const std::string& to) {
    const auto at = expected.find(from);
    ASSERT_NE(at, std::string::npos);
    expected.replace(at, from.size(), to);
  };
  swap("batch_size: 128   # as it was", "batch_size: 256   # as it was");
  swap("num_workers: 4\n", "num_workers: 8\n");
  swap("pin_memory: false", "pin_memory: true");
  swap("use_amp: false", "use_amp: true");
  EXPECT_EQ(patch->text, expected);
  EXPECT_EQ(patch->edits.size(), 4U);
}

TEST(TrainingPatch, values_that_are_there_already_are_no_change) {
  const auto patch = patch_training_settings(kOld, "default.yaml", {128, 4, schema::AmpMode::off, false});
  ASSERT_TRUE(patch);
  EXPECT_TRUE(patch->edits.empty());
  EXPECT_EQ(patch->text, kOld);
}

TEST(TrainingPatch, keys_are_found_elsewhere_or_added) {
  const auto elsewhere =
      patch_training_settings("loader:\n  batch_size: 8\n", "c.yaml", {64, 2, schema::AmpMode::off, true});
  ASSERT_TRUE(elsewhere) << elsewhere.error().message;
  EXPECT_NE(elsewhere->text.find("loader:\n  batch_size: 64\n"), std::string::npos) << elsewhere->text;
  EXPECT_NE(elsewhere->text.find("num_workers: 2"), std::string::npos) << elsewhere->text;
  EXPECT_NE(elsewhere->text.find("use_amp: false"), std::string::npos) << elsewhere->text;
  const auto empty = patch_training_settings("", "c.yaml", {64, 2, schema::AmpMode::off, true});
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_NE(empty->text.find("batch_size: 64"), std::string::npos) << empty->text;
}

TEST(TrainingPatch, two_places_of_one_name_are_refused_with_their_lines) {
  const auto patch = patch_training_settings("a:\n  batch_size: 1\nb:\n  batch_size: 2\n", "c.yaml", {});
  ASSERT_FALSE(patch);
  EXPECT_NE(patch.error().message.find("a.batch_size (line 2), b.batch_size (line 4)"), std::string::npos)
      << patch.error().message;
}

TEST(TrainingPatch, learning_rate_and_accumulation_are_read_for_the_advice) {
  const auto config = read_training_config(kOld, "default.yaml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->batch_size, 128);
  EXPECT_EQ(config->gradient_accumulation_steps, 2);
  EXPECT_DOUBLE_EQ(*config->learning_rate, 1e-3);
}

}  // namespace
}  // namespace ridgeline::campaign
