// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/checks.hpp"
#include "healthy_facts.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

Check see_recording(const Facts& facts, const std::string& id) {
  return find_check(check_recording(facts), "recording." + id);
}

TEST(RecordingChecks, what_a_program_would_be_recorded_with_is_shown) {
  const auto facts = healthy_facts();
  EXPECT_EQ(text_of(see_recording(facts, "library").evidence), "/ridgeline/lib/libridgeline_inject.so");
  const auto cupti = see_recording(facts, "cupti.1");
  EXPECT_EQ(cupti.status, CheckStatus::ok);
  EXPECT_TRUE(contains(text_of(cupti.evidence), "torch for CUDA 13: 13.0; /site/nvidia/cu13/lib/libcupti.so.13"));
  EXPECT_EQ(see_recording(facts, "injection").status, CheckStatus::ok);
}

TEST(RecordingChecks, a_torch_without_cupti_gets_the_package_of_its_cuda) {
  auto facts = healthy_facts();
  facts.recording.cupti = {{schema::messages::foreign("x"), "/x/bin/python3", 12, "", "", ""}};
  const auto check = see_recording(facts, "cupti.1");
  EXPECT_EQ(check.status, CheckStatus::warn);
  EXPECT_EQ(check.commands, std::vector<std::string>{"/x/bin/python3 -m pip install nvidia-cuda-cupti-cu12"});
  facts.recording.cupti.front().cuda_major = 13;
  EXPECT_EQ(see_recording(facts, "cupti.1").commands.front(), "/x/bin/python3 -m pip install nvidia-cuda-cupti");
  facts.driver = {};
  EXPECT_EQ(see_recording(facts, "cupti.1").status, CheckStatus::skipped) << "without a GPU there is nothing to record";
}

TEST(RecordingChecks, a_cupti_that_does_not_load_says_what_is_missing) {
  auto facts = healthy_facts();
  auto& cupti = facts.recording.cupti.front();
  cupti.load_error = cupti.path + ": undefined symbol: cuGraphNew, version libcuda.so.1";
  const auto check = see_recording(facts, "cupti.1");
  EXPECT_EQ(check.status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(check.evidence), "symbol cuGraphNew is missing"));
}

TEST(RecordingChecks, without_torch_a_missing_cupti_is_no_warning_but_comes_with_the_way_to_it) {
  auto facts = healthy_facts();
  facts.recording.cupti = {{{}, "", 13, "", "", ""}};
  const auto check = see_recording(facts, "cupti.1");
  EXPECT_EQ(check.status, CheckStatus::skipped);
  EXPECT_TRUE(contains(text_of(check.evidence), "programs for CUDA 13: not found"));
  EXPECT_TRUE(contains(text_of(check.evidence), "to get it: python3 -m pip install nvidia-cuda-cupti;"));
  EXPECT_TRUE(contains(text_of(check.evidence), "/cu13/lib/libcupti.so.13"));
}

TEST(RecordingChecks, a_missing_recorder_is_a_warning_only_on_a_machine_with_a_gpu) {
  auto facts = healthy_facts();
  facts.recording.library.clear();
  facts.recording.library_error = {base::ErrorCode::not_found, "libridgeline_inject.so is not in /x", "install again"};
  EXPECT_EQ(see_recording(facts, "library").status, CheckStatus::warn);
  EXPECT_EQ(text_of(see_recording(facts, "library").fix), "install again");
  facts.driver = {};
  EXPECT_EQ(see_recording(facts, "library").status, CheckStatus::skipped);
}

TEST(RecordingChecks, an_injected_tool_is_named_with_the_line_that_removes_it) {
  auto facts = healthy_facts();
  facts.recording.injections = {{"CUDA_INJECTION64_PATH", "/nsys/libToolsInjection64.so"}};
  const auto check = see_recording(facts, "injection");
  EXPECT_EQ(check.status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(check.evidence), "CUDA_INJECTION64_PATH=/nsys/libToolsInjection64.so"));
  EXPECT_EQ(check.commands, std::vector<std::string>{"unset CUDA_INJECTION64_PATH"});
}

}  // namespace
}  // namespace ridgeline::doctor
