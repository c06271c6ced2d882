// SPDX-License-Identifier: Apache-2.0
#include "stream/lateness_audit.hpp"

#include <gtest/gtest.h>

#include "unit/stream/simulated_loads.hpp"

namespace ridgeline::stream {
namespace {

/// 10,000 frames, each late by 50 us, and `late` of them by `late_ns`.
LatenessAudit audit_of(int late, std::int64_t late_ns) {
  LatenessAudit audit;
  for (int i = 0; i < 10000; ++i) {
    const std::int64_t intended = i * kMillisecond;
    audit.add(intended, intended + (i < late ? late_ns : 50'000));
  }
  return audit;
}

TEST(LatenessAudit, voids_by_the_share_of_the_slo) {
  const auto audit = audit_of(11, 700'000);  // one more than 0.1 %
  const auto verdict = audit.verdict(60 * kMillisecond);
  EXPECT_TRUE(verdict.is_void);
  EXPECT_EQ(verdict.limit_ns, 600'000);
  EXPECT_EQ(verdict.message, "load generator: p99.9 of lateness 0.700 ms, at most 0.600 ms; the run is void");
  EXPECT_FALSE(audit.verdict(80 * kMillisecond).is_void);
  EXPECT_FALSE(audit_of(10, 700'000).verdict(60 * kMillisecond).is_void);
}

TEST(LatenessAudit, voids_by_a_millisecond_however_long_the_slo) {
  EXPECT_TRUE(audit_of(11, 1'100'000).verdict(kSecond).is_void);
  EXPECT_TRUE(audit_of(11, 1'100'000).verdict(0).is_void);
  EXPECT_FALSE(audit_of(11, 900'000).verdict(kSecond).is_void);
}

TEST(LatenessAudit, a_frame_issued_early_counts_as_well) {
  EXPECT_TRUE(audit_of(11, -2'000'000).verdict(kSecond).is_void);
}

}  // namespace
}  // namespace ridgeline::stream
