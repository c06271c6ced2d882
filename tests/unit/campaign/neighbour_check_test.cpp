// SPDX-License-Identifier: Apache-2.0
#include "campaign/neighbour_check.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_gpu_pool.hpp"

namespace ridgeline::campaign {
namespace {

using Lanes = std::vector<std::size_t>;

std::vector<schema::TrialSpec> specs(std::size_t lanes) {
  std::vector<schema::TrialSpec> specs(lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) specs[lane].device = fmt::format("gpu:{}", lane);
  return specs;
}

Neighbours check(fakes::FakeGpuPool& pool) {
  auto found = check_neighbours(pool, specs(pool.lanes()), schema::Objective::latency);
  EXPECT_TRUE(found);
  return found ? *found : Neighbours{};
}

TEST(NeighbourCheck, gpus_that_leave_each_other_alone_measure_side_by_side) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 3);
  pool.disturbance = {1.0, 1.01, 1.0};
  const auto found = check(pool);
  EXPECT_EQ(found.lanes, (Lanes{0, 1, 2}));
  EXPECT_NE(found.note.find("spread over 3 GPUs, which slow each other down by at most 1."), std::string::npos)
      << found.note;
  EXPECT_EQ(pool.widths, (Lanes{1, 1, 1, 3}));
}

TEST(NeighbourCheck, one_disturbed_gpu_serialises_all) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 3);
  pool.disturbance = {1.0, 1.0, 1.06};
  const auto found = check(pool);
  EXPECT_EQ(found.lanes, (Lanes{0}));
  EXPECT_NE(found.note.find("one after another: gpu:2 is 6."), std::string::npos) << found.note;
}

TEST(NeighbourCheck, a_gpu_of_another_pace_is_left_out) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 3);
  pool.pace = {1.0, 1.1, 1.0};
  pool.disturbance = {1.0, 2.0, 1.0};  // of one that is left out it does not matter
  const auto found = check(pool);
  EXPECT_EQ(found.lanes, (Lanes{0, 2}));
  EXPECT_NE(found.note.find("gpu:1 is left out: alone it takes 1.1 times as long"), std::string::npos) << found.note;
}

TEST(NeighbourCheck, defaults_that_do_not_run_serialise) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 2);
  pool.simple.failure = [](const auto&) { return schema::TrialStatus::out_of_memory; };
  EXPECT_EQ(check(pool).lanes, (Lanes{0}));
}

TEST(NeighbourCheck, an_interrupt_ends_it) {
  const fakes::FakeClock clock;
  fakes::FakeGpuPool pool(clock, 2);
  pool.simple.interrupt = [&] { return pool.simple.trials_run == 1; };
  const auto found = check_neighbours(pool, specs(2), schema::Objective::latency);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::ErrorCode::cancelled);
}

}  // namespace
}  // namespace ridgeline::campaign
