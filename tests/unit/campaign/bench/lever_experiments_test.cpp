// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/lever_conditions.hpp"
#include "unit/campaign/bench/bench_campaign_fixture.hpp"

namespace ridgeline::campaign {
namespace {

class LeverExperimentsTest : public BenchCampaignTest {
 protected:
  static BenchRequest asking(std::vector<std::string> levers) {
    auto out = request("");
    out.levers = std::move(levers);
    return out;
  }
  static std::vector<std::string> codes(const schema::BenchRun& run, const std::vector<std::string>& of) {
    std::vector<std::string> out;
    for (const auto& finding : run.findings)
      if (std::find(of.begin(), of.end(), finding.code) != of.end()) out.push_back(finding.code);
    return out;
  }
};

const std::vector<std::string> kLevers{"channels_last", "cudnn_benchmark", "allow_tf32", "levers_together"};

TEST_F(LeverExperimentsTest, a_lever_that_trains_something_else_is_not_recommended) {
  executor_.speeds = {{"channels_last", {1.5}}, {"cudnn_benchmark", {1.4}}};
  executor_.losses = {{"channels_last", std::vector<double>(20, 2.1)},
                      {"cudnn_benchmark", std::vector<double>(20, 2.001)}};
  const auto found = run(asking({"channels_last", "cudnn_benchmark"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(codes(*found, kLevers), std::vector<std::string>{"cudnn_benchmark"});
  EXPECT_TRUE(noted(*found, "channels_last changes samples/s by +50")) << listed(*found);
  EXPECT_TRUE(noted(*found, "it trains something else: over 20 steps the losses are 5.00 % apart")) << listed(*found);
}

TEST_F(LeverExperimentsTest, tf32_may_round_and_others_may_not) {
  executor_.speeds = {{"channels_last", {1.5}}, {"allow_tf32", {1.5}}};
  executor_.losses = {{"channels_last", std::vector<double>(20, 2.01)}, {"allow_tf32", std::vector<double>(20, 2.01)}};
  auto asked = asking({"channels_last", "allow_tf32"});
  asked.space.amps = {schema::AmpMode::off};  // with AMP all may
  const auto found = run(asked);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(codes(*found, kLevers), std::vector<std::string>{"allow_tf32"});
}

TEST_F(LeverExperimentsTest, a_lever_that_loses_the_loss_is_not_recommended) {
  executor_.speeds = {{"channels_last", {1.5}}};
  executor_.losses = {{"channels_last", {2, 2, 2}}};
  const auto found = run(asking({"channels_last"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(codes(*found, kLevers).empty());
  EXPECT_TRUE(noted(*found, "with it the loss is NaN or infinite from step 4 on")) << listed(*found);
}

TEST_F(LeverExperimentsTest, levers_that_help_are_measured_together) {
  executor_.speeds = {{"channels_last", {1.5}}, {"allow_tf32", {1.2}}};
  const auto found = run(asking({"channels_last", "allow_tf32"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(codes(*found, kLevers), (std::vector<std::string>{"channels_last", "allow_tf32", "levers_together"}));
  EXPECT_NEAR(found->findings.back().predicted_gain.value_or(0), 0.8, 0.05);
}

TEST_F(LeverExperimentsTest, a_lever_that_helps_only_with_another_is_found) {
  executor_.speeds = {{"channels_last", {1.5}}};
  executor_.speed_together = [](const auto& levers) {
    return levers.contains("lever:channels_last") && levers.contains("lever:cudnn_benchmark") ? 1.3 : 1.0;
  };
  const auto found = run(asking({"channels_last", "cudnn_benchmark", "allow_tf32"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(codes(*found, kLevers), (std::vector<std::string>{"channels_last", "levers_together"}));
  EXPECT_NEAR(found->findings.back().predicted_gain.value_or(0), 0.95, 0.05);
  EXPECT_NE(fakes::text_of(found->findings.back().title).find("channels_last, cudnn_benchmark"), std::string::npos);
  auto in_grid = asking({"channels_last", "cudnn_benchmark", "allow_tf32"});
  in_grid.search = "grid";
  const auto grid = run(in_grid);
  ASSERT_TRUE(grid) << grid.error().message;
  EXPECT_EQ(codes(*grid, kLevers), std::vector<std::string>{"channels_last"});
}

TEST_F(LeverExperimentsTest, a_combination_that_trains_something_else_is_not_used) {
  executor_.speeds = {{"channels_last", {1.5}}};
  executor_.losses = {{"cudnn_benchmark", std::vector<double>(20, 2.5)}};
  executor_.speed_together = [](const auto& levers) {
    return levers.contains("lever:channels_last") && levers.contains("lever:cudnn_benchmark") ? 1.3 : 1.0;
  };
  const auto found = run(asking({"channels_last", "cudnn_benchmark"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(codes(*found, kLevers), std::vector<std::string>{"channels_last"});
}

TEST_F(LeverExperimentsTest, smaller_images_are_an_offer_and_no_finding) {
  executor_.speeds = {{"input_resolution=0.75", {1.6}}, {"input_resolution=0.5", {1.61}}};
  executor_.losses = {{"input_resolution", std::vector<double>(20, 3.0)}};
  auto asked = asking({"input_resolution"});
  asked.levers_by_name = true;
  const auto found = run(asked);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(codes(*found, {"input_resolution", "levers_together"}).empty());
  EXPECT_TRUE(noted(*found, "input_resolution=0.75 trains something else and is only an offer")) << listed(*found);
  // The smaller image brings no more than the larger one.
  EXPECT_FALSE(noted(*found, "input_resolution=0.5 trains something else")) << listed(*found);
  EXPECT_TRUE(noted(*found, "no gain of 5 % or more from input_resolution=0.5")) << listed(*found);
  asked.levers_by_name = false;
  asked.job.seed = 2;
  const auto unnamed = run(asked);
  ASSERT_TRUE(unnamed) << unnamed.error().message;
  EXPECT_FALSE(noted(*unnamed, "is only an offer")) << listed(*unnamed);
}

TEST_F(LeverExperimentsTest, the_best_value_of_a_lever_is_the_finding) {
  executor_.speeds = {{"fused_optimizer=fused", {1.2}}, {"fused_optimizer=foreach", {1.4}}};
  const auto found = run(asking({"fused_optimizer"}));
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(codes(*found, {"fused_optimizer"}).size(), 1U);
  EXPECT_NE(fakes::text_of(found->findings.back().advice).find("fused_optimizer: foreach"), std::string::npos);
}

TEST_F(LeverExperimentsTest, a_lever_without_its_condition_is_named_and_not_measured) {
  auto asked = asking({"allow_tf32", "torch_compile", "gradient_checkpointing"});
  asked.device = "cpu";
  asked.job.runtime = "torch 1.13.0a0, Python 3.11.2";
  asked.refused_levers = {{"gradient_checkpointing", "no blocks"}};
  const auto found = run(asked);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(noted(*found, "not tried without a GPU: allow_tf32")) << listed(*found);
  EXPECT_TRUE(noted(*found, "they need a later torch: torch_compile=default (2.0)")) << listed(*found);
  EXPECT_TRUE(noted(*found, "gradient_checkpointing was not changed: no blocks")) << listed(*found);
}

TEST_F(LeverExperimentsTest, a_script_with_another_batch_gets_both_rules_of_the_learning_rate) {
  auto asked = asking({});
  asked.job.kind = "script";
  asked.diagnose = false;
  asked.current = schema::TrainingSettings{.batch = 32};
  asked.space = {{32, 128}, {0}, {schema::AmpMode::off}, {false}};
  asked.origins.push_back({"learning rate", "0.01", {}});
  const auto found = run(asked);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(found->answers && found->answers->recommended);
  ASSERT_EQ(found->answers->recommended->settings.batch, 128);
  EXPECT_TRUE(noted(*found, "batch 128 instead of 32: 4 times as many samples per step")) << listed(*found);
  EXPECT_TRUE(noted(*found, "0.04 instead of 0.01, by the square-root rule (Adam) 0.02")) << listed(*found);
}

TEST(LeverConditionsTest, conditions_of_a_row) {
  BenchRequest request;
  request.levers = schema::training_lever_names();
  request.job.runtime = "torch 2.11.0+cpu, Python 3.11.2";
  const schema::TrainingSettings base{.batch = 3, .workers = 0};
  const auto condition = [&](std::string_view name, std::string_view value) {
    for (const auto& lever : schema::training_levers())
      if (lever.name == name && lever.value == value) return unmet_condition(lever, request, base);
    ADD_FAILURE() << name;
    return LeverCondition::met;
  };
  EXPECT_EQ(condition("prefetch_factor", "4"), LeverCondition::workers);
  EXPECT_EQ(condition("gradient_accumulation", "2"), LeverCondition::batch);
  EXPECT_EQ(condition("non_blocking", "true"), LeverCondition::gpu);
  EXPECT_EQ(condition("sdpa_backend", "math"), LeverCondition::met);
  EXPECT_EQ(condition("torch_compile", "default"), LeverCondition::met);
  request.device = "cuda:0";
  EXPECT_EQ(condition("sdpa_backend", "math"), LeverCondition::other_device);
  EXPECT_EQ(condition("non_blocking", "true"), LeverCondition::pinned);
}

TEST(LeverConditionsTest, a_lever_that_the_job_has_is_not_tried) {
  BenchRequest request;
  request.levers = {"channels_last", "torch_compile"};
  request.job.options["lever:channels_last"] = "true";
  std::vector<std::string> tried;
  for (const auto& lever : schema::training_levers())
    if (is_asked_for(lever, request)) tried.push_back(lever_label(lever));
  EXPECT_EQ(tried, (std::vector<std::string>{"torch_compile=default", "torch_compile=reduce-overhead"}));
}

TEST(LeverConditionsTest, levers_that_leave_each_other_nothing_to_do_exclude_each_other) {
  const auto lever = [](std::string_view name, std::string_view value) {
    for (const auto& one : schema::training_levers())
      if (one.name == name && one.value == value) return &one;
    ADD_FAILURE() << name;
    return &schema::training_levers().front();
  };
  const auto* on_device = lever("cache_dataset", "device");
  EXPECT_TRUE(exclude_each_other(*on_device, *lever("prefetch_factor", "4")));
  EXPECT_TRUE(exclude_each_other(*lever("non_blocking", "true"), *on_device));
  EXPECT_TRUE(exclude_each_other(*on_device, *lever("cache_dataset", "true")));
  EXPECT_FALSE(exclude_each_other(*lever("cache_dataset", "true"), *lever("prefetch_factor", "4")));
  EXPECT_FALSE(exclude_each_other(*on_device, *lever("channels_last", "true")));
  EXPECT_TRUE(exclude_each_other(*lever("cuda_graph", "true"), *lever("torch_compile", "default")));
}

TEST(LeverConditionsTest, version_of_torch) {
  EXPECT_EQ(torch_version("torch 1.13.0a0+git1 (cuda 11.7), Python 3.11.2"), "1.13.0");
  EXPECT_EQ(torch_version(""), "");
}

}  // namespace
}  // namespace ridgeline::campaign
