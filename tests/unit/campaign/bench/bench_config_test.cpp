// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/bench_config.hpp"

#include <fmt/ranges.h>
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

TEST(BenchConfig, what_changes_the_speed_and_is_not_taken_is_told) {
  const auto config = parse_bench_config(
      "device: [0, 1, 2, 3]\ndata:\n  loader: {prefetch_factor: 4}\ntrainer:\n  devices: 2\n  gpu_ids: \"0,1,2\"\n"
      "other:\n  device: 3\n  num_gpus: 1\n  persistent_workers:\n",
      "train.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->not_taken, (std::map<int, std::string>{{1, "device: 4 devices, of which a trial has one"},
                                                           {3, "prefetch_factor: 4"},
                                                           {5, "devices: 2 devices, of which a trial has one"},
                                                           {6, "gpu_ids: 3 devices, of which a trial has one"}}));
}

void expect_refusal(const char* yaml, const char* text) {
  const auto config = parse_bench_config(yaml, "bench.yaml");
  ASSERT_FALSE(config) << yaml;
  EXPECT_EQ(config.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(base::error_line(config.error()).find(text), std::string::npos) << base::error_line(config.error());
}

TEST(BenchConfig, slips_are_named_with_place_and_nearest_key) {
  expect_refusal("benchmark:\n  batch_size: [1]\n",
                 "bench.yaml:2:3: unknown key \"batch_size\" in benchmark; expected ");
  expect_refusal("benchmark:\n  batch_size: [1]\n", "; did you mean \"batch_sizes\"?");
  expect_refusal("benchmark: {batch_sizes: [0]}\n", "benchmark.batch_sizes=0 is not legal");
  expect_refusal("benchmark: {batch_sizes: []}\n", "empty list");
  expect_refusal("benchmark: {num_workers_options: [many]}\n", "many");
  expect_refusal("data: {pin_memory: perhaps}\n", "perhaps");
  expect_refusal("training: {learning_rate: -1}\n", "above 0");
  expect_refusal("benchmark: 3\n", "expected a mapping");
  expect_refusal("- a\n", "expected the sections");
  expect_refusal("benchmark: {\n", "bench.yaml");
}

TEST(BenchConfig, a_key_like_ours_in_the_users_own_sections_is_left_with_a_reason) {
  const auto config =
      parse_bench_config("data: {workers: 4, shuffle: true}\nbenchmrk:\n  batch_sizes: [1]\n", "c.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->not_read.size(), 2U);
  EXPECT_EQ(config->not_read.at("data.workers"), "did you mean \"num_workers\"?");
  EXPECT_EQ(config->not_read.at("benchmrk"), "did you mean \"benchmark\"?");
  EXPECT_EQ(config->lines.at("benchmrk"), 2);
  EXPECT_FALSE(config->num_workers);
}

TEST(BenchConfig, a_trainings_own_file_is_read_wherever_it_has_the_settings) {
  const auto config = parse_bench_config(
      "model: {name: unet}\nloader:\n  batch_size: 48\n  num_workers: 3\noptimizer: {learning_rate: 0.1}\n"
      "a: {use_amp: true}\nb: {use_amp: false}\n",
      "c.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->batch_size, 48);
  EXPECT_EQ(config->num_workers, 3);
  EXPECT_DOUBLE_EQ(*config->learning_rate, 0.1);
  EXPECT_EQ(config->lines.at("data.batch_size"), 3);
  EXPECT_FALSE(config->use_amp) << "two places of one name";
  EXPECT_TRUE(config->not_read.empty());
}

TEST(BenchConfig, what_another_program_fills_in_is_not_read) {
  const auto config = parse_bench_config("data: {batch_size: \"${BATCH}\", num_workers: 2}\n", "c.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_FALSE(config->batch_size);
  EXPECT_EQ(config->num_workers, 2);
  EXPECT_EQ(config->not_read.at("data.batch_size"), "batch_size is ${BATCH}, which another program fills in");
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

// pin_memory was changed to false on a machine that has no GPU to measure it with.
TEST(TrainingPatch, what_was_not_measured_is_left_as_it_is) {
  const std::string file = "batch_size: 256\nnum_workers: 2\npin_memory: true\nuse_amp: true\n";
  const schema::TrainingSettings settings{16, 1, schema::AmpMode::off, false};
  analysis::VariedSettings varied;
  varied.pin_memory = false;
  const auto patch = patch_training_settings(file, "g.yaml", settings, varied);
  ASSERT_TRUE(patch);
  EXPECT_EQ(patch->text, "batch_size: 16\nnum_workers: 1\npin_memory: true\nuse_amp: false\n");
  const auto kept = kept_training_settings(file, "g.yaml", settings, varied);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].key, "pin_memory");
  EXPECT_EQ(kept[0].value, "true");
  // Nor is it added, and what is right by chance is no matter.
  const auto added = patch_training_settings("batch_size: 256\n", "g.yaml", settings, varied);
  ASSERT_TRUE(added);
  EXPECT_EQ(added->text.find("pin_memory"), std::string::npos) << added->text;
  EXPECT_TRUE(kept_training_settings("pin_memory: false\n", "g.yaml", settings, varied).empty());
}

TEST(TrainingPatch, two_places_of_one_name_are_refused_with_their_lines) {
  const auto patch = patch_training_settings("a:\n  batch_size: 1\nb:\n  batch_size: 2\n", "c.yaml", {});
  ASSERT_FALSE(patch);
  EXPECT_NE(patch.error().message.find("a.batch_size (line 2), b.batch_size (line 4)"), std::string::npos)
      << patch.error().message;
}

void expect_no_patch(const char* yaml, const char* text) {
  const auto patch = patch_training_settings(yaml, "c.yaml", {64, 2, schema::AmpMode::off, true});
  ASSERT_FALSE(patch) << yaml << patch->text;
  EXPECT_NE(patch.error().message.find(text), std::string::npos) << patch.error().message;
  // What bench does not have is no way out.
  for (const auto* foreign : {"--space", "--config-section", "mapping"})
    EXPECT_EQ(patch.error().message.find(foreign), std::string::npos) << patch.error().message;
}

TEST(TrainingPatch, what_cannot_be_changed_is_told_with_a_way_out_that_there_is) {
  expect_no_patch("data:\n  batch_size: &b 32\neval: *b\n", "carries the anchor &b that line 3 uses too");
  expect_no_patch("base: &d {x: 1}\ndata: *d\n", "which is the alias *d");
  expect_no_patch("data:\n  batch_size: ${BS}\n", "c.yaml:2: batch_size is ${BS}, which another program fills in");
  expect_no_patch("data: {x: 1}\n---\ndata: {y: 1}\n", "in none of the 2 documents");
}

TEST(TrainingPatch, of_several_documents_the_one_that_has_the_key_is_changed) {
  const auto patch = patch_training_settings(
      "data: {batch_size: 1, num_workers: 0, pin_memory: false}\ntraining: {use_amp: false}\n---\ndata: {y: 1}\n",
      "c.yaml", {64, 2, schema::AmpMode::off, true});
  ASSERT_TRUE(patch) << patch.error().message;
  EXPECT_EQ(
      patch->text,
      "data: {batch_size: 64, num_workers: 2, pin_memory: true}\ntraining: {use_amp: false}\n---\ndata: {y: 1}\n");
}

TEST(TrainingPatch, numbers_that_cannot_be_read_are_named) {
  const auto config = read_training_config(
      "data: {batch_size: 64}\ntraining:\n  gradient_accumulation_steps: ${ACC}\n  learning_rate: x\n", "c.yaml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->batch_size, 64);
  EXPECT_FALSE(config->gradient_accumulation_steps);
  EXPECT_FALSE(config->learning_rate);
  EXPECT_NE(
      config->unreadable.at("gradient_accumulation_steps").find("c.yaml:3: gradient_accumulation_steps is ${ACC}"),
      std::string::npos);
  EXPECT_NE(config->unreadable.at("learning_rate").find("c.yaml:4: learning_rate is x"), std::string::npos);
  for (const auto* value : {"2.5", "0", "-1", "[1]"})
    EXPECT_EQ(
        read_training_config(fmt::format("gradient_accumulation_steps: {}\n", value), "c.yaml")->unreadable.size(), 1U)
        << value;
  EXPECT_TRUE(read_training_config("learning_rate:\n", "c.yaml")->unreadable.empty());
  EXPECT_EQ(read_training_config("a: {learning_rate: 1}\nb: {learning_rate: 2}\n", "c.yaml")->unreadable.size(), 1U);
  EXPECT_EQ(read_training_config("training: {learning_rate: 1}\nb: {learning_rate: 2}\n", "c.yaml")->learning_rate, 1);
}

std::string advice(const TrainingConfig& now, std::int64_t batch) {
  const auto found = advise_on_batch(now, batch);
  return found ? fmt::format("{}", fmt::join(found->lines, "\n")) : "none";
}

TEST(BatchAdvice, only_what_keeps_the_effective_batch_is_said_to) {
  EXPECT_EQ(advice({128, 1, 0.1, {}}, 64),
            "effective batch 128 -> 64 (64 x 1 accumulation step)\n"
            "learning rate 0.1: the linear rule (SGD) gives 0.05, the square-root rule (Adam) 0.07071; or keep it with "
            "gradient_accumulation_steps: 2 (effective batch 128)");
  EXPECT_EQ(
      advice({64, {}, 0.1, {}}, 128),
      "effective batch 64 -> 128 (128 x 1 accumulation step)\n"
      "learning rate 0.1: the linear rule (SGD) gives 0.2, the square-root rule (Adam) 0.1414\n"
      "no whole number of gradient_accumulation_steps keeps the effective batch of 64; the nearest is 1 (effective "
      "batch 128), as it is now: take one of these learning rates");
  EXPECT_NE(advice({100, 1, 0.1, {}}, 64)
                .find("the nearest is 2 (effective batch 128), with a learning rate of 0.128 "
                      "(linear) or 0.1131 (square root)"),
            std::string::npos)
      << advice({100, 1, 0.1, {}}, 64);
  EXPECT_NE(advice({100, 1, {}, {}}, 64).find("with the learning rate times 1.28"), std::string::npos);
  EXPECT_EQ(advice({64, 1, 0.1, {}}, 64), "none");
  EXPECT_EQ(advice({{}, 1, 0.1, {}}, 64), "none");
}

TEST(BatchAdvice, an_accumulation_that_cannot_be_read_is_not_taken_for_one) {
  TrainingConfig now{128, {}, 0.1, {{"gradient_accumulation_steps", "c.yaml:3: it is ${ACC}"}}};
  const auto text = advice(now, 64);
  EXPECT_NE(text.find("c.yaml:3: it is ${ACC}"), std::string::npos) << text;
  EXPECT_EQ(text.find("effective batch 128"), std::string::npos) << text;
  EXPECT_NE(text.find("0.5 times what it was"), std::string::npos) << text;
  EXPECT_NE(text.find("with 2 times the gradient_accumulation_steps"), std::string::npos) << text;
  // What bench.yaml has stands in for it.
  const auto both = merged(now, {32, 4, 0.3, {}});
  EXPECT_EQ(both.batch_size, 128);
  EXPECT_EQ(both.gradient_accumulation_steps, 4);
  EXPECT_DOUBLE_EQ(*both.learning_rate, 0.1);
  EXPECT_NE(advice(both, 64).find("${ACC}; the 4 of the --config file counts"), std::string::npos) << advice(both, 64);
  EXPECT_NE(advice(both, 64).find("effective batch 512 -> 256"), std::string::npos) << advice(both, 64);
  EXPECT_EQ(merged({}, {32, 4, 0.3, {}}).batch_size, 32);
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
