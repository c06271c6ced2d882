// SPDX-License-Identifier: Apache-2.0
#include "measure/paired_rounds.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "fakes/fake_workload.hpp"

namespace ridgeline::measure {
namespace {

using fakes::FakeWorkload;

constexpr double kMillisecond = 1e6;

/// Sessions of one configuration, of which every second one made is slower.
class Sessions {
 public:
  explicit Sessions(double second_is) : second_is_(second_is) {}
  MakeArm arm(double share = 1) {
    return [this, share]() -> base::Result<std::unique_ptr<workload::Workload>> {
      if (made_ == fails_at) return base::fail(base::ErrorCode::out_of_memory, "no room for session {}", made_);
      const double latency = kMillisecond * share * (made_++ % 2 == 0 ? 1 : second_is_);
      return std::make_unique<FakeWorkload>([latency](int, std::int64_t) { return latency; });
    };
  }
  [[nodiscard]] int made() const { return made_; }
  int fails_at = -1;

 private:
  double second_is_;
  int made_ = 0;
};

schema::PairedPlan plan_of(int quads, int rounds) {
  schema::PairedPlan plan;
  plan.quads = quads;
  plan.max_quads = quads;
  plan.rounds = rounds;
  plan.block_time_s = 0.01;
  plan.warmup.warmup_max_s = 0;
  return plan;
}

double log_ratio(const schema::PairedMeasurement& measurement) {
  double sum = 0;
  for (const auto& block : measurement.blocks)
    sum += (block.arm == 'B' ? 1 : -1) * std::log(block.latency_ns.front());
  return sum / static_cast<double>(measurement.blocks.size()) * 2;
}

TEST(MeasurePairedRounds, a_session_made_second_does_not_count_against_its_arm) {
  Sessions one(1.02);
  MeasureControl control;
  const auto biased = measure_paired_rounds(one.arm(), one.arm(), plan_of(4, 1), control);
  ASSERT_TRUE(biased) << biased.error().message;
  EXPECT_NEAR(log_ratio(*biased), std::log(1.02), 1e-6);
  Sessions two(1.02);
  const auto fair = measure_paired_rounds(two.arm(), two.arm(), plan_of(4, 2), control);
  ASSERT_TRUE(fair) << fair.error().message;
  EXPECT_EQ(two.made(), 4);
  EXPECT_EQ(fair->blocks.size(), 16U);
  EXPECT_NEAR(log_ratio(*fair), 0, 1e-6);
}

TEST(MeasurePairedRounds, a_true_difference_stays) {
  Sessions sessions(1.02);
  MeasureControl control;
  const auto measured = measure_paired_rounds(sessions.arm(), sessions.arm(1.1), plan_of(4, 2), control);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_NEAR(log_ratio(*measured), std::log(1.1), 1e-6);
}

TEST(MeasurePairedRounds, an_arm_that_cannot_be_made_ends_it) {
  Sessions sessions(1);
  sessions.fails_at = 3;
  MeasureControl control;
  const auto measured = measure_paired_rounds(sessions.arm(), sessions.arm(), plan_of(4, 2), control);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, base::ErrorCode::out_of_memory);
}

TEST(MeasurePairedRounds, no_round_is_made_for_less_than_a_quad) {
  Sessions sessions(1);
  MeasureControl control;
  const auto measured = measure_paired_rounds(sessions.arm(), sessions.arm(), plan_of(1, 4), control);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(sessions.made(), 2);
}

}  // namespace
}  // namespace ridgeline::measure
