// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/checks.hpp"
#include "fakes/words.hpp"
#include "healthy_facts.hpp"

namespace ridgeline::doctor {
namespace {

Check see_inference(const Facts& facts, const std::string& provider) {
  return find_check(check_inference(facts), "inference." + provider);
}

TEST(InferenceChecks, runs_that_went_well_are_ok_with_their_time) {
  EXPECT_EQ(see_inference(healthy_facts(), "cpu").status, CheckStatus::ok);
  EXPECT_TRUE(contains(text_of(see_inference(healthy_facts(), "cpu").evidence), "200 µs"));
  EXPECT_TRUE(contains(text_of(see_inference(healthy_facts(), "cuda").evidence), "same answers as the CPU"));
  EXPECT_EQ(see_inference(healthy_facts(), "tensorrt").status, CheckStatus::skipped);
  EXPECT_EQ(text_of(see_inference(cpu_facts(), "cuda").evidence), "no GPU");
}

TEST(InferenceChecks, a_crash_is_a_failed_line) {
  auto facts = healthy_facts();
  facts.smoke.back().status = schema::TrialStatus::crashed;
  facts.smoke.back().failure = fakes::legacy("the worker died of SIGSEGV (Segmentation fault) in phase create_session");
  facts.smoke.back().signal = 11;
  const auto check = see_inference(facts, "cuda");
  EXPECT_EQ(check.status, CheckStatus::fail);
  EXPECT_TRUE(contains(text_of(check.evidence), "GPU 0: crashed: the worker died of SIGSEGV"));
  EXPECT_TRUE(contains(text_of(check.fix), "mixed library versions"));
}

TEST(InferenceChecks, wrong_answers_are_a_failure) {
  auto facts = healthy_facts();
  facts.smoke.back().output_error = 0.5;
  EXPECT_EQ(see_inference(facts, "cuda").status, CheckStatus::fail);
  EXPECT_TRUE(contains(text_of(see_inference(facts, "cuda").evidence), "differ from the CPU's"));
}

TEST(InferenceChecks, of_several_gpus_only_the_failing_one_is_named) {
  auto facts = healthy_facts();
  auto second = facts.smoke.back();
  second.device = "GPU 1";
  second.status = schema::TrialStatus::timeout;
  second.failure = fakes::legacy("no result within 60 s");
  facts.smoke.push_back(second);
  const auto check = see_inference(facts, "cuda");
  EXPECT_EQ(check.status, CheckStatus::fail);
  EXPECT_FALSE(contains(text_of(check.evidence), "GPU 0"));
  EXPECT_TRUE(contains(text_of(check.evidence), "GPU 1: timeout"));
}

TEST(InferenceChecks, gpus_that_agree_share_a_line) {
  auto facts = healthy_facts();
  const auto first = facts.smoke.back();
  for (int i = 1; i < 8; ++i) {
    facts.smoke.push_back(first);
    facts.smoke.back().device = "GPU " + std::to_string(i);
  }
  EXPECT_EQ(text_of(see_inference(facts, "cuda").evidence), "all 8: 200 µs, same answers as the CPU");
  for (auto& run : facts.smoke) run.not_run = run.provider == "cuda" ? messages::libraries_fail() : schema::Message();
  EXPECT_EQ(text_of(see_inference(facts, "cuda").evidence), "all 8: its libraries do not load, see Libraries");
  EXPECT_EQ(see_inference(facts, "cuda").status, CheckStatus::skipped);
  for (auto& run : facts.smoke) run.not_run = {};
  for (const auto i : {3U, 5U}) {
    facts.smoke[i].status = schema::TrialStatus::crashed;
    facts.smoke[i].failure = fakes::legacy("SIGSEGV");
  }
  EXPECT_EQ(text_of(see_inference(facts, "cuda").evidence), "GPU 2, 4: crashed: SIGSEGV");
}

TEST(InferenceChecks, what_was_not_tried_is_skipped_with_the_reason) {
  auto facts = healthy_facts();
  facts.smoke.back().not_run = messages::libraries_fail();
  EXPECT_EQ(see_inference(facts, "cuda").status, CheckStatus::skipped);
  facts.smoke.clear();
  facts.passive = true;
  EXPECT_TRUE(contains(text_of(see_inference(facts, "cpu").evidence), "--no-load"));
}

}  // namespace
}  // namespace ridgeline::doctor
