// SPDX-License-Identifier: Apache-2.0
#include "execute/gpu_memory_gate.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/words.hpp"

namespace ridgeline::execute {
namespace {

constexpr std::int64_t kGb = 1'000'000'000;
constexpr std::int64_t kContext = 550'000'000;

class GpuMemoryGateTest : public ::testing::Test {
 protected:
  fakes::FakeClock clock_;
  std::optional<std::int64_t> free_ = 80 * kGb;
  double freed_at_s_ = 0;  ///< free_ is short of 5 GB until then
  int reads_ = 0;
  GpuMemoryGate gate_{[this](const std::string&) -> std::optional<std::int64_t> {
                        ++reads_;
                        if (!free_) return std::nullopt;
                        return base::to_seconds(clock_.now()) < freed_at_s_ ? *free_ - 5 * kGb : *free_;
                      },
                      clock_};
  double now_s() const { return base::to_seconds(clock_.now()); }
};

TEST_F(GpuMemoryGateTest, never_waits_after_a_good_trial) {
  EXPECT_FALSE(gate_.enter("gpu:a", false));
  gate_.leave(false);
  free_ = 10 * kGb;
  EXPECT_FALSE(gate_.enter("gpu:a", false));
  EXPECT_EQ(clock_.sleeps, 0);
  EXPECT_EQ(reads_, 2);
}

TEST_F(GpuMemoryGateTest, waits_until_a_dead_workers_memory_is_back) {
  EXPECT_FALSE(gate_.enter("gpu:a", false));
  gate_.leave(true);
  freed_at_s_ = now_s() + 1.5;
  EXPECT_FALSE(gate_.enter("gpu:a", false));
  EXPECT_NEAR(now_s(), freed_at_s_, 0.05);
  gate_.leave(false);
  EXPECT_FALSE(gate_.enter("gpu:a", false)) << "paid once";
}

TEST_F(GpuMemoryGateTest, says_so_when_it_does_not_come_back) {
  EXPECT_FALSE(gate_.enter("gpu:a", false));
  gate_.leave(true);
  const double from_s = now_s();
  *free_ -= 200'000'000;
  const auto flag = gate_.enter("gpu:a", false);
  ASSERT_TRUE(flag);
  EXPECT_EQ(flag->code, "gpu_memory_not_released");
  EXPECT_NE(fakes::text_of(flag->message).find("200 MB"), std::string::npos) << fakes::text_of(flag->message);
  EXPECT_NEAR(now_s() - from_s, GpuMemoryGate::kPatienceS, 0.1);
  gate_.leave(true);
  const double again_s = now_s();
  EXPECT_FALSE(gate_.enter("gpu:a", false)) << "what is lost is lost";
  EXPECT_EQ(now_s(), again_s);
}

TEST_F(GpuMemoryGateTest, takes_a_small_difference_for_none) {
  EXPECT_FALSE(gate_.enter("gpu:a", false));
  gate_.leave(true);
  *free_ -= 30 << 20;
  EXPECT_FALSE(gate_.enter("gpu:a", false));
  EXPECT_EQ(clock_.sleeps, 0);
}

// The context of the worker that died was free again as well, so as much of its other memory could be missing unseen.
TEST_F(GpuMemoryGateTest, misses_what_a_living_workers_context_would_hide) {
  EXPECT_FALSE(gate_.enter("gpu:a", false));  // before there was a worker
  gate_.leave(false);
  *free_ -= kContext;
  EXPECT_FALSE(gate_.enter("gpu:a", true));
  gate_.leave(true);  // it died, and instead of its context something else is missing
  const auto flag = gate_.enter("gpu:a", false);
  ASSERT_TRUE(flag);
  EXPECT_NE(fakes::text_of(flag->message).find("550 MB"), std::string::npos) << fakes::text_of(flag->message);
}

TEST_F(GpuMemoryGateTest, a_living_workers_context_is_not_missing) {
  EXPECT_FALSE(gate_.enter("gpu:a", false));
  gate_.leave(true);
  const auto before = *free_;
  *free_ -= kContext;
  EXPECT_FALSE(gate_.enter("gpu:a", true)) << "a reference was made since";
  EXPECT_EQ(clock_.sleeps, 0);
  gate_.leave(false);
  *free_ = before - kGb;
  EXPECT_TRUE(gate_.enter("gpu:a", false)) << "not compared is not found well";
}

TEST_F(GpuMemoryGateTest, what_cannot_be_read_is_compared_later) {
  EXPECT_FALSE(gate_.enter("gpu:a", false));
  gate_.leave(true);
  const auto before = *free_;
  free_.reset();
  EXPECT_FALSE(gate_.enter("gpu:a", false));
  gate_.leave(false);
  free_ = before - kGb;
  EXPECT_TRUE(gate_.enter("gpu:a", false));
}

TEST_F(GpuMemoryGateTest, a_look_knows_what_was_free_and_pays_no_debt) {
  gate_.look("gpu:a", false);
  gate_.leave(true);
  *free_ -= kGb;
  gate_.look("gpu:a", false);
  EXPECT_EQ(clock_.sleeps, 0);
  EXPECT_TRUE(gate_.enter("gpu:a", false));
}

TEST_F(GpuMemoryGateTest, has_nothing_to_do_with_other_devices) {
  EXPECT_FALSE(gate_.enter("cpu:some/8", false));
  EXPECT_EQ(reads_, 0);
  EXPECT_FALSE(gate_.enter("gpu:a", false));
  gate_.leave(true);
  *free_ -= 20 * kGb;
  EXPECT_FALSE(gate_.enter("gpu:b", false));
  free_.reset();
  gate_.leave(true);
  EXPECT_FALSE(gate_.enter("gpu:b", false));
  EXPECT_EQ(clock_.sleeps, 0);
}

}  // namespace
}  // namespace ridgeline::execute
