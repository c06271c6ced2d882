// SPDX-License-Identifier: Apache-2.0
#include "search/rule_condition.hpp"

#include <gtest/gtest.h>

#include "fakes/built_space.hpp"
#include "search/gpu_rules.hpp"

namespace ridgeline::search {
namespace {

SpaceInput on_a(std::string compute_capability) {
  SpaceInput input;
  input.provider = "cuda";
  input.runtime.name = "onnxruntime";
  input.runtime.version = "1.29.0";
  input.environment.gpus.emplace_back().compute_capability = std::move(compute_capability);
  return input;
}

bool has_rule(const SpaceInput& input, std::string_view part) {
  for (const auto& rule : gpu_rules(input))
    if (rule.text.find(part) != std::string::npos) return true;
  return false;
}

TEST(RuleCondition, a_version_range_is_half_open_and_the_unknown_counts_as_the_newest) {
  EXPECT_TRUE(in_range("1.20.0", {.since = "1.20"}));
  EXPECT_FALSE(in_range("1.19.2", {.since = "1.20"}));
  EXPECT_TRUE(in_range("1.9.0", {.before = "1.10"}));
  EXPECT_FALSE(in_range("1.10.0", {.before = "1.10"}));
  EXPECT_TRUE(in_range("1.26.0-dev", {.since = "1.26.0", .before = "1.27"}));
  EXPECT_TRUE(in_range("", {.since = "1.20"}));
  EXPECT_FALSE(in_range("", {.before = "1.20"}));
  EXPECT_TRUE(in_range("", {}));
}

TEST(RuleCondition, asks_the_provider_the_runtime_and_the_device) {
  auto input = on_a("9.0");
  EXPECT_TRUE(holds({}, input));
  EXPECT_TRUE(holds({.device = schema::DeviceKind::gpu}, input));
  EXPECT_FALSE(holds({.device = schema::DeviceKind::cpu}, input));
  EXPECT_TRUE(holds({.provider_lacks = &schema::ExecutionProvider::compiles_graph}, input));
  EXPECT_FALSE(holds({.provider_has = &schema::ExecutionProvider::compiles_graph}, input));
  EXPECT_FALSE(holds({.runtime = {.before = "1.29"}}, input));
  EXPECT_FALSE(holds({.compute_capability = {.before = "9.0"}}, input));
  EXPECT_FALSE(holds({.about = [](const SpaceInput& one) { return one.tensor_location == "device"; }}, input));
  // Versions of another runtime say nothing of ONNX Runtime's.
  input.runtime.name = "synthetic";
  EXPECT_FALSE(holds({.runtime = {.before = "1.30"}}, input));
}

TEST(RuleCondition, what_was_measured_on_one_class_of_gpus_forbids_nothing_on_others) {
  constexpr auto kMeasured = "device is never faster than stream";
  EXPECT_TRUE(has_rule(on_a("9.0"), kMeasured));
  EXPECT_TRUE(has_rule(on_a(""), kMeasured));
  EXPECT_FALSE(has_rule(on_a("8.6"), kMeasured));
  // What is wrong everywhere stays forbidden.
  EXPECT_TRUE(has_rule(on_a("8.6"), "fuse_conv_bias needs prefer_nhwc"));
}

TEST(RuleCondition, an_old_gpu_is_told_what_it_lacks) {
  EXPECT_NE(reason(build(on_a("7.5")), "use_tf32").find("has no TF32"), std::string::npos);
  EXPECT_NE(reason(build(on_a("8.0")), "use_tf32").find("an accuracy setting"), std::string::npos);
  auto input = on_a("7.5");
  input.model.nodes = 100;
  input.model.node_counts = {{"com.microsoft.Attention", 12}};
  input.model.parameter_types = {{"float16", 1000}};
  input.model.inputs = {{"x", "float16", {1, 8}, {"", ""}}};
  EXPECT_NE(reason(build(input), "sdpa_kernel", {1}).find("compute capability 8.0"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::search
