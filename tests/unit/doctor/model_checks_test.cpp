// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/checks.hpp"
#include "fakes/words.hpp"
#include "healthy_facts.hpp"

namespace ridgeline::doctor {
namespace {

Facts with_model() {
  auto facts = healthy_facts();
  auto& model = facts.model.emplace();
  model.path = "m.onnx";
  model.opset_supported = true;
  auto& description = model.model.emplace();
  description.nodes = 80;
  description.opsets[""] = 17;
  description.parameters = 25'000'000;
  description.parameter_bytes = 100'000'000;
  model.runs = facts.smoke;
  return facts;
}

Check see_model(const Facts& facts, const std::string& id) { return find_check(check_model(facts), "model." + id); }

TEST(ModelChecks, without_a_model_there_are_none) { EXPECT_TRUE(check_model(healthy_facts()).empty()); }

TEST(ModelChecks, a_model_that_runs_everywhere_is_ok) {
  for (const auto& check : check_model(with_model()))
    EXPECT_EQ(check.status, CheckStatus::ok) << check.id << ": " << text_of(check.evidence);
  EXPECT_TRUE(contains(text_of(see_model(with_model(), "opset").evidence), "17, which ONNX Runtime 1.29.0 supports"));
  EXPECT_TRUE(contains(text_of(see_model(with_model(), "file").evidence), "80 nodes, 25.0 M parameters"));
}

TEST(ModelChecks, an_unreadable_model_fails_and_nothing_else_is_judged) {
  auto facts = with_model();
  facts.model->model.reset();
  facts.model->runs.clear();
  facts.model->error = {base::ErrorCode::not_found, "m.onnx: no such file"};
  EXPECT_EQ(see_model(facts, "file").status, CheckStatus::fail);
  EXPECT_EQ(see_model(facts, "opset").status, CheckStatus::skipped);
  EXPECT_EQ(see_model(facts, "memory").status, CheckStatus::skipped);
}

TEST(ModelChecks, an_opset_past_the_runtimes_is_a_warning_that_names_the_limit) {
  auto facts = with_model();
  facts.model->model->opsets[""] = 25;
  facts.model->opset_supported = false;
  facts.model->newest_opset = 23;
  EXPECT_EQ(see_model(facts, "opset").status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(see_model(facts, "opset").fix), "opset 23 or older"));
  facts.model->opset_supported.reset();
  EXPECT_EQ(see_model(facts, "opset").status, CheckStatus::skipped);
}

TEST(ModelChecks, memory_is_held_against_host_and_gpu) {
  auto facts = with_model();
  facts.gpus.front().gpu.memory_free_bytes = 50'000'000;
  EXPECT_EQ(see_model(facts, "memory").status, CheckStatus::warn);
  facts.machine.environment.memory_available_bytes = 10'000'000;
  EXPECT_EQ(see_model(facts, "memory").status, CheckStatus::fail);
}

TEST(ModelChecks, a_provider_that_cannot_run_it_fails) {
  auto facts = with_model();
  facts.model->runs.back().status = schema::TrialStatus::out_of_memory;
  facts.model->runs.back().failure = fakes::legacy("failed to allocate 3 GB");
  EXPECT_EQ(see_model(facts, "cuda").status, CheckStatus::fail);
  EXPECT_EQ(see_model(facts, "cpu").status, CheckStatus::ok);
}

TEST(ModelChecks, other_answers_of_a_users_model_are_a_warning) {
  auto facts = with_model();
  facts.model->runs.back().output_error = 0.1;
  EXPECT_EQ(see_model(facts, "cuda").status, CheckStatus::warn);
}

}  // namespace
}  // namespace ridgeline::doctor
