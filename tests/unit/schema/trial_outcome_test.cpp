// SPDX-License-Identifier: Apache-2.0
#include "schema/trial_outcome.hpp"
#include "fakes/words.hpp"

#include <gtest/gtest.h>

namespace ridgeline::schema {
namespace {

TEST(Failure, keeps_what_the_gpu_was_like) {
  TrialOutcome outcome;
  outcome.status = TrialStatus::out_of_memory;
  outcome.failure.emplace().message = fakes::legacy("no room");
  outcome.failure->gpu.emplace().memory_free_before_bytes = 10;
  outcome.failure->gpu->neighbours_before = {{4711, 130}};
  add_flag(outcome, {FlagLevel::notice, "gpu_memory_not_released", fakes::legacy("some of it")});
  const auto back = base::Json::parse(base::Json(outcome).dump()).get<TrialOutcome>();
  ASSERT_TRUE(back.failure && back.failure->gpu);
  EXPECT_EQ(fakes::text_of(back.failure->message), "no room");
  EXPECT_EQ(back.failure->gpu->memory_free_before_bytes, 10);
  EXPECT_EQ(back.failure->gpu->neighbours_before.at(0).memory_bytes, 130);
  EXPECT_EQ(back.failure->flags.at(0).code, "gpu_memory_not_released");
}

TEST(Failure, without_a_gpu_says_nothing_of_one) {
  Failure failure;
  failure.message = fakes::legacy("killed");
  failure.signal = 9;
  EXPECT_EQ(base::Json(failure).dump(),
            R"({"exit_code":null,"message":{"arguments":{"text":"killed"},"code":"schema.legacy","severity":"note"},)"
            R"("phase":"launch","requested_bytes":null,)"
            R"("signal":9,"stderr_tail":""})");
  const auto old = base::Json::parse(R"({"message":"killed","phase":"measure","signal":9})").get<Failure>();
  EXPECT_EQ(fakes::text_of(old.message), "killed");
  EXPECT_EQ(old.phase, TrialPhase::measure);
  EXPECT_EQ(old.signal, 9);
  EXPECT_FALSE(old.gpu);
  EXPECT_TRUE(old.flags.empty());
}

TEST(Failure, of_an_older_record_is_read_with_its_hint) {
  const auto old = base::Json::parse(R"({"message":"the arena is too small","hint":"raise it"})").get<Failure>();
  EXPECT_TRUE(old.message.is(kLegacy));
  EXPECT_EQ(fakes::words().line(old.message), "the arena is too small; raise it");
  const auto again = base::Json::parse(base::Json(old).dump()).get<Failure>();
  EXPECT_EQ(again.message, old.message);
  EXPECT_TRUE(base::Json::parse(R"({"message":"","phase":"measure"})").get<Failure>().message.empty());
}

TEST(Failure, takes_no_flag_that_belongs_to_a_measurement) {
  TrialOutcome outcome;
  outcome.measurement.emplace();
  outcome.failure.emplace();
  add_flag(outcome, {FlagLevel::notice, "code", fakes::legacy("")});
  EXPECT_EQ(outcome.measurement->flags.size(), 1U);
  EXPECT_TRUE(outcome.failure->flags.empty());
}

}  // namespace
}  // namespace ridgeline::schema
