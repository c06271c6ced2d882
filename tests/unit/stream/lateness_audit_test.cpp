// SPDX-License-Identifier: Apache-2.0
#include "stream/lateness_audit.hpp"

#include <gtest/gtest.h>

#include "unit/stream/simulated_loads.hpp"

namespace ridgeline::stream {
namespace {

/// 10,000 frames, each late by 50 us, and `late` of them by `late_ns`.
LatenessAudit::Verdict verdict_of(int late, std::int64_t late_ns, std::int64_t slo_ns) {
  LatenessAudit audit(slo_ns);
  for (int i = 0; i < 10000; ++i) {
    const std::int64_t intended = i * kMillisecond;
    audit.add(intended, intended + (i < late ? late_ns : 50'000));
  }
  return audit.verdict();
}

TEST(LatenessAudit, is_late_by_the_share_of_the_slo) {
  const auto verdict = verdict_of(11, 700'000, 60 * kMillisecond);  // one more than 0.1 %
  EXPECT_TRUE(verdict.is_late);
  EXPECT_EQ(verdict.limit_ns, 600'000);
  EXPECT_EQ(verdict.late_frames, 11U);
  EXPECT_EQ(verdict.most_ns, 700'000);
  EXPECT_EQ(verdict.p999_ns, 700'000);
  EXPECT_FALSE(verdict_of(11, 700'000, 80 * kMillisecond).is_late);
  const auto few = verdict_of(10, 700'000, 60 * kMillisecond);
  EXPECT_FALSE(few.is_late);
  EXPECT_EQ(few.late_frames, 10U);
  EXPECT_NEAR(static_cast<double>(few.p999_ns), 50'000, 500);
}

TEST(LatenessAudit, is_late_by_a_millisecond_however_long_the_slo) {
  EXPECT_TRUE(verdict_of(11, 1'100'000, kSecond).is_late);
  EXPECT_TRUE(verdict_of(11, 1'100'000, 0).is_late);
  EXPECT_FALSE(verdict_of(11, 900'000, kSecond).is_late);
}

TEST(LatenessAudit, a_frame_issued_early_counts_as_well) { EXPECT_TRUE(verdict_of(11, -2'000'000, kSecond).is_late); }

}  // namespace
}  // namespace ridgeline::stream
