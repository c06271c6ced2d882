// SPDX-License-Identifier: Apache-2.0
#include "execute/device_pool_executor.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/fake_executor.hpp"

namespace ridgeline::execute {
namespace {

/// What the lanes have in common.
struct Meeting {
  std::atomic<int> present{0};
  std::atomic<int> most_present{0};
  std::atomic<int> expected{1};
};

/// Waits in each trial until as many lanes as expected are in one; names its thread in the outcome.
class MeetingExecutor final : public Executor {
 public:
  MeetingExecutor(Meeting& meeting, std::string name, std::thread::id* made_on = nullptr,
                  std::thread::id* ended_on = nullptr)
      : meeting_(meeting), name_(std::move(name)), made_on_(made_on), ended_on_(ended_on) {
    if (made_on_ != nullptr) *made_on_ = std::this_thread::get_id();
  }
  ~MeetingExecutor() override {
    if (ended_on_ != nullptr) *ended_on_ = std::this_thread::get_id();
  }
  base::Result<schema::RuntimeIdentity> probe(const std::string& kind, const std::string& library) override {
    auto identity = simple_.probe(kind, library);
    identity->name = name_;
    return identity;
  }
  base::Result<schema::ModelDescription> inspect(const workload::InspectRequest& request) override {
    return simple_.inspect(request);
  }
  base::Result<schema::TrialOutcome> run_trial(const schema::TrialSpec& spec, const TrialOptions& options) override {
    if (spec.device == "cancelled") return base::fail(base::ErrorCode::cancelled, "cancelled");
    const int here = ++meeting_.present;
    int most = meeting_.most_present;
    while (here > most && !meeting_.most_present.compare_exchange_weak(most, here)) {
    }
    while (meeting_.most_present < meeting_.expected) std::this_thread::yield();
    auto outcome = simple_.run_trial(spec, options);
    outcome->failure.emplace().message = name_ + " ran " + spec.device;
    --meeting_.present;
    return outcome;
  }
  base::Result<schema::GpuCeilings> gpu_ceilings(const std::string& kind, const std::string& library) override {
    return simple_.gpu_ceilings(kind, library);
  }
  base::Result<schema::PairedOutcome> run_pair(const schema::PairedSpec& spec, const TimeLeft& left) override {
    return simple_.run_pair(spec, left);
  }
  base::Result<schema::AccuracyDrift> make_reference(const schema::TrialSpec& spec, const std::filesystem::path& path,
                                                     const TimeLeft& left) override {
    return simple_.make_reference(spec, path, left);
  }

 private:
  Meeting& meeting_;
  std::string name_;
  std::thread::id* made_on_;
  std::thread::id* ended_on_;
  fakes::FakeExecutor simple_;
};

TrialJob job(std::size_t lane, std::string device) {
  TrialJob job;
  job.lane = lane;
  job.spec.device = std::move(device);
  return job;
}

DevicePoolExecutor pool_of_three(Meeting& meeting) {
  return {std::make_unique<MeetingExecutor>(meeting, "A"),
          {[&meeting] { return std::make_unique<MeetingExecutor>(meeting, "B"); },
           [&meeting] { return std::make_unique<MeetingExecutor>(meeting, "C"); }}};
}

TEST(DevicePoolExecutor, runs_trials_side_by_side_and_answers_in_order) {
  Meeting meeting;
  meeting.expected = 3;  // none would end if they ran one after another
  auto pool = pool_of_three(meeting);
  EXPECT_EQ(pool.lanes(), 3U);
  const auto outcomes = pool.run_trials({job(2, "z"), job(0, "x"), job(1, "y")});
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(outcomes[0]->failure->message, "C ran z");
  EXPECT_EQ(outcomes[1]->failure->message, "A ran x");
  EXPECT_EQ(outcomes[2]->failure->message, "B ran y");
}

TEST(DevicePoolExecutor, leaves_idle_lanes_alone_and_can_be_used_again) {
  Meeting meeting;
  auto pool = pool_of_three(meeting);
  for (int round = 0; round < 50; ++round) {
    const auto outcomes = pool.run_trials({job(1, "y")});
    ASSERT_EQ(outcomes.size(), 1U);
    EXPECT_EQ(outcomes[0]->failure->message, "B ran y");
  }
  EXPECT_EQ(meeting.most_present, 1);
}

TEST(DevicePoolExecutor, answers_everything_else_by_the_first) {
  Meeting meeting;
  auto pool = pool_of_three(meeting);
  EXPECT_EQ(pool.probe("onnx", "")->name, "A");
  EXPECT_EQ(pool.run_trial(job(0, "x").spec, {})->failure->message, "A ran x");
}

TEST(DevicePoolExecutor, passes_on_the_error_of_one_lane_beside_the_results_of_others) {
  Meeting meeting;
  auto pool = pool_of_three(meeting);
  const auto outcomes = pool.run_trials({job(0, "x"), job(1, "cancelled")});
  EXPECT_TRUE(outcomes[0]);
  ASSERT_FALSE(outcomes[1]);
  EXPECT_EQ(outcomes[1].error().code, base::ErrorCode::cancelled);
}

TEST(DevicePoolExecutor, refuses_two_trials_for_one_lane_and_a_lane_it_has_not) {
  Meeting meeting;
  auto pool = pool_of_three(meeting);
  for (const auto& jobs : {std::vector{job(1, "x"), job(1, "y")}, std::vector{job(3, "x"), job(0, "y")}}) {
    const auto outcomes = pool.run_trials(jobs);
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_FALSE(outcomes[0]);
    EXPECT_FALSE(outcomes[1]);
  }
}

TEST(DevicePoolExecutor, makes_and_ends_each_further_executor_on_its_own_thread) {
  Meeting meeting;
  std::thread::id made;
  std::thread::id ended;
  {
    DevicePoolExecutor pool(std::make_unique<MeetingExecutor>(meeting, "A"),
                            {[&] { return std::make_unique<MeetingExecutor>(meeting, "B", &made, &ended); }});
    (void)pool.run_trials({job(1, "y")});
  }
  EXPECT_NE(made, std::this_thread::get_id());
  EXPECT_EQ(made, ended);
}

}  // namespace
}  // namespace ridgeline::execute
