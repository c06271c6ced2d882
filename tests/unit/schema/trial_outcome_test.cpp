// SPDX-License-Identifier: Apache-2.0
#include "schema/trial_outcome.hpp"

#include <gtest/gtest.h>

namespace ridgeline::schema {
namespace {

TEST(Failure, keeps_what_the_gpu_was_like) {
  TrialOutcome outcome;
  outcome.status = TrialStatus::out_of_memory;
  outcome.failure.emplace().message = "no room";
  outcome.failure->gpu.emplace().memory_free_before_bytes = 10;
  outcome.failure->gpu->neighbours_before = {{4711, 130}};
  add_flag(outcome, {FlagLevel::notice, "gpu_memory_not_released", "some of it"});
  const auto back = base::Json::parse(base::Json(outcome).dump()).get<TrialOutcome>();
  ASSERT_TRUE(back.failure && back.failure->gpu);
  EXPECT_EQ(back.failure->message, "no room");
  EXPECT_EQ(back.failure->gpu->memory_free_before_bytes, 10);
  EXPECT_EQ(back.failure->gpu->neighbours_before.at(0).memory_bytes, 130);
  EXPECT_EQ(back.failure->flags.at(0).code, "gpu_memory_not_released");
}

TEST(Failure, without_a_gpu_is_written_as_it_always_was) {
  Failure failure;
  failure.message = "killed";
  failure.signal = 9;
  EXPECT_EQ(base::Json(failure).dump(),
            R"({"exit_code":null,"message":"killed","phase":"launch","requested_bytes":null,)"
            R"("signal":9,"stderr_tail":""})");
  const auto old = base::Json::parse(R"({"message":"killed","phase":"measure","signal":9})").get<Failure>();
  EXPECT_EQ(old.phase, TrialPhase::measure);
  EXPECT_EQ(old.signal, 9);
  EXPECT_FALSE(old.gpu);
  EXPECT_TRUE(old.flags.empty());
}

TEST(Failure, a_hint_is_written_only_where_there_is_one) {
  Failure failure;
  failure.message = "the arena is too small";
  EXPECT_FALSE(base::Json(failure).contains("hint"));
  EXPECT_EQ(failure_line(failure), "the arena is too small");
  failure.hint = "raise it";
  EXPECT_EQ(base::Json::parse(base::Json(failure).dump()).get<Failure>().hint, "raise it");
  EXPECT_EQ(failure_line(failure), "the arena is too small; raise it");
}

TEST(Failure, takes_no_flag_that_belongs_to_a_measurement) {
  TrialOutcome outcome;
  outcome.measurement.emplace();
  outcome.failure.emplace();
  add_flag(outcome, {FlagLevel::notice, "code", ""});
  EXPECT_EQ(outcome.measurement->flags.size(), 1U);
  EXPECT_TRUE(outcome.failure->flags.empty());
}

}  // namespace
}  // namespace ridgeline::schema
