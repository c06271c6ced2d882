// SPDX-License-Identifier: Apache-2.0
#include "schema/former_keys.hpp"

#include <gtest/gtest.h>

#include "schema/trial_spec.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::schema {
namespace {

TEST(FormerKeys, are_read_where_the_present_one_is_absent) {
  const auto spec = base::Json::parse(R"({"io":"device","alone":true})").get<TrialSpec>();
  EXPECT_EQ(spec.tensor_location, "device");
  EXPECT_TRUE(spec.isolated);
  const auto pair =
      base::Json::parse(R"({"purpose":"duel","from_store":true,"comparison":{"quads":7}})").get<TunedPair>();
  EXPECT_EQ(pair.purpose, PairPurpose::head_to_head);
  EXPECT_TRUE(pair.cached);
  EXPECT_EQ(pair.comparison.value().abba_rounds, 7);
  EXPECT_FALSE(base::Json::parse(R"({"from_store":true,"cached":false})").get<TunedPair>().cached);
  const auto outcome =
      base::Json::parse(R"({"drift":{"max_abs":2},"measurement":{"lanes":3,"stop_reason":"abandoned"}})")
          .get<TrialOutcome>();
  EXPECT_EQ(outcome.output_error.value().max_abs, 2);
  EXPECT_EQ(outcome.measurement.value().concurrency, 3);
  EXPECT_EQ(outcome.measurement.value().stop_reason, StopReason::stopped_early);
}

TEST(FormerKeys, are_written_no_more) {
  const base::Json written = TunedPair{};
  EXPECT_TRUE(written.contains("cached"));
  EXPECT_FALSE(written.contains("from_store"));
}

TEST(TrialSpec, members_that_were_renamed_leave_the_keys_of_stored_trials_alone) {
  TrialSpec spec;
  EXPECT_EQ(spec.key(), "1ae60651c8f3919777c44f90bfd18d94c7d389614d7c306f3e1f3a94a44d92af");
  spec.tensor_location = "device";
  spec.isolated = true;
  EXPECT_EQ(spec.key(), "c5610000f0a007fa92a0db3ec1ba8584b0975fc7695bd7c9f3a7b5854ee7e6fb");
  EXPECT_EQ((PairedSpec{.base = spec, .other = {}, .plan = {}}.key()),
            "1a35cde9584ce2d6649d5a37888a3c418ea7d3a1e604cb29eea2b3a279338ac2");
}

}  // namespace
}  // namespace ridgeline::schema
