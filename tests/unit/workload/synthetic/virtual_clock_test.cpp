// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/virtual_clock.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "schema/trial_spec.hpp"
#include "workload/synthetic/synthetic_kind.hpp"

namespace ridgeline::workload {
namespace {

TEST(VirtualClock, moves_only_when_told_to) {
  const VirtualClock clock;
  EXPECT_EQ(clock.now(), VirtualClock::kBegin);
  clock.sleep_for(std::chrono::seconds(3));
  EXPECT_EQ(clock.now() - VirtualClock::kBegin, std::chrono::seconds(3));
  EXPECT_EQ(clock.path(), "");
}

TEST(VirtualClock, all_who_attach_live_in_one_time) {
  const auto parent = VirtualClock::share().value();
  const auto worker = VirtualClock::attach(parent->path()).value();
  parent->sleep_for(std::chrono::seconds(1));
  worker->sleep_for(std::chrono::seconds(2));
  EXPECT_EQ(parent->now() - VirtualClock::kBegin, std::chrono::seconds(3));
  EXPECT_EQ(worker->now(), parent->now());
}

TEST(VirtualClock, one_that_is_not_there_is_an_error_that_names_it) {
  const auto attached = VirtualClock::attach("/proc/self/fd/9999");
  ASSERT_FALSE(attached);
  EXPECT_NE(attached.error().message.find("/proc/self/fd/9999"), std::string::npos);
}

TEST(VirtualClock, a_worker_finds_its_parents) {
  const auto parent = VirtualClock::share().value();
  ::setenv(VirtualClock::kVariable, parent->path().c_str(), 1);
  const auto kind = make_synthetic_kind();
  ::unsetenv(VirtualClock::kVariable);
  schema::TrialSpec spec;
  spec.workload.location = "session_time=5s";
  ASSERT_TRUE(kind.make(spec).value()->prepare());
  EXPECT_EQ(parent->now() - VirtualClock::kBegin, std::chrono::seconds(5));
  EXPECT_EQ(kind.clock(spec)->now(), parent->now());
  spec.workload.location = "clock=real";
  EXPECT_EQ(kind.clock(spec), &base::system_clock());
}

TEST(VirtualClock, a_run_has_one_where_its_time_is_simulated) {
  EXPECT_NE(simulated_clock({"synthetic", "surface=conv"}).value(), nullptr);
  EXPECT_EQ(simulated_clock({"synthetic", "clock=real"}).value(), nullptr);
  EXPECT_EQ(simulated_clock({"onnx", "model.onnx"}).value(), nullptr);
  EXPECT_FALSE(simulated_clock({"synthetic", "nonsense=1"}));
}

}  // namespace
}  // namespace ridgeline::workload
