// SPDX-License-Identifier: Apache-2.0
#include "workload/failure_facts.hpp"

#include <gtest/gtest.h>

#include "workload/training/synthetic_step_options.hpp"

namespace ridgeline::workload {
namespace {

using schema::OomEvidence;

const FailureFacts& facts_of(const std::string& name) {
  for (const auto& [kind, facts] : step_fault_kinds())
    if (kind == name) return facts;
  ADD_FAILURE() << name;
  return step_fault_kinds().front().second;
}

TEST(FailureFacts, every_injected_kind_is_told_right) {
  int ooms = 0;
  int others = 0;
  for (const auto& [kind, facts] : step_fault_kinds()) {
    const bool expected = kind.rfind("oom_", 0) == 0;
    const auto error = judge_failure(facts);
    EXPECT_EQ(error.oom != OomEvidence::none, expected) << kind;
    EXPECT_EQ(error.error.code == base::ErrorCode::out_of_memory, expected) << kind;
    EXPECT_FALSE(error.error.message.empty() && !facts.signal && !facts.exit_code) << kind;
    ++(expected ? ooms : others);
  }
  EXPECT_GE(ooms, 12);
  EXPECT_GE(others, 12);
}

TEST(FailureFacts, the_best_evidence_is_named) {
  EXPECT_EQ(oom_evidence(facts_of("oom_forward")), OomEvidence::type);
  EXPECT_EQ(oom_evidence(facts_of("oom_subclass")), OomEvidence::type);
  EXPECT_EQ(oom_evidence(facts_of("oom_pinned_host")), OomEvidence::error_code);
  EXPECT_EQ(oom_evidence(facts_of("oom_torchscript")), OomEvidence::allocator_counter);
  EXPECT_EQ(oom_evidence(facts_of("oom_host_kill")), OomEvidence::exit_status);
  EXPECT_EQ(oom_evidence(facts_of("oom_api_text")), OomEvidence::text);
}

TEST(FailureFacts, a_kill_without_the_kernels_word_is_a_crash) {
  EXPECT_EQ(judge_failure(facts_of("killed")).error.code, base::ErrorCode::crashed);
  EXPECT_EQ(judge_failure(facts_of("oom_host_kill")).error.code, base::ErrorCode::out_of_memory);
}

TEST(FailureFacts, refusals_and_users_slips_have_codes_of_their_own) {
  EXPECT_EQ(judge_failure(facts_of("refused")).error.code, base::ErrorCode::invalid_argument);
  EXPECT_EQ(judge_failure(facts_of("no_module")).error.code, base::ErrorCode::not_found);
  EXPECT_EQ(judge_failure(facts_of("shape")).error.code, base::ErrorCode::internal);
}

TEST(FailureFacts, what_a_shortage_was_raised_again_as_names_it) {
  FailureFacts facts;
  facts.type = "ValueError";
  facts.message = "the step failed";
  facts.causes = {{"KeyError", {}, "3", {}, {}},
                  {"torch.OutOfMemoryError", {"RuntimeError"}, "no room\nsecond line", {}, {}}};
  const auto error = judge_failure(facts);
  EXPECT_EQ(error.oom, OomEvidence::type);
  EXPECT_EQ(error.error.message, "ValueError: the step failed; it came from torch.OutOfMemoryError: no room");
  facts.causes.pop_back();
  EXPECT_EQ(judge_failure(facts).oom, OomEvidence::none);
}

TEST(FailureFacts, where_it_was_raised_and_what_it_came_from_are_told) {
  FailureFacts facts;
  facts.type = "RuntimeError";
  facts.message = "sample 7 is broken\nsecond line";
  facts.place = "train.py:12 in __getitem__";
  facts.came_from = "OSError: truncated";
  EXPECT_EQ(judge_failure(facts).error.message,
            "RuntimeError: sample 7 is broken (train.py:12 in __getitem__); it came from OSError: truncated");
}

TEST(FailureFacts, an_uncaught_exception_is_named) {
  EXPECT_EQ(uncaught_type("x\nterminate called after throwing an instance of 'std::bad_alloc'\n  what(): no\n"),
            "std::bad_alloc");
  EXPECT_EQ(uncaught_type("terminate called without an active exception"), "");
  EXPECT_EQ(uncaught_type("terminate called after throwing an instance of 'std::ba"), "");
}

TEST(FailureFacts, a_message_is_one_line) {
  FailureFacts facts;
  facts.type = "RuntimeError";
  facts.message = "first\nsecond";
  EXPECT_EQ(judge_failure(facts).error.message, "RuntimeError: first");
}

}  // namespace
}  // namespace ridgeline::workload
