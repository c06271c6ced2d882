// SPDX-License-Identifier: Apache-2.0
// Campaigns over several GPUs.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/fake_gpu_pool.hpp"
#include "fakes/gpu_pool_request.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;
using schema::Value;

class SideBySideTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "rl-beside-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    request_ = fakes::gpu_pool_request(
        folder_, 3,
        {{"cudnn_conv_algo_search", {"HEURISTIC", "DEFAULT"}}, {"prefer_nhwc", {true}}, {"use_tf32", {false}}});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static double cost(const Configuration& c) {
    return 1e6 * (c.get_or("cudnn_conv_algo_search", "") == Value("HEURISTIC") ? 0.5 : 1) *
           (c.contains("prefer_nhwc") ? 0.8 : 1);
  }

  TuneResult run(fakes::FakeGpuPool& pool, const std::string& database) {
    pool.simple.cost_ns = cost;
    return fakes::tuned(pool, clock_, folder_ / database, request_);
  }

  static std::vector<Configuration> tried(const TuneResult& result) {
    std::vector<Configuration> list;
    for (const auto& trial : result.run.trials) list.push_back(trial.configuration);
    return list;
  }
  static bool has_note(const TuneResult& result, std::string_view text) {
    return std::any_of(result.run.notes.begin(), result.run.notes.end(),
                       [&](const auto& note) { return fakes::text_of(note).find(text) != std::string::npos; });
  }

  std::filesystem::path folder_;
  fakes::FakeClock clock_;
  TuneRequest request_;
};

TEST_F(SideBySideTest, a_grid_is_spread_over_all_gpus_and_finds_the_same) {
  fakes::FakeGpuPool one(clock_, 1);
  fakes::FakeGpuPool three(clock_, 3);
  const auto serial = run(one, "one.db");
  const auto spread = run(three, "three.db");
  EXPECT_EQ(tried(spread), tried(serial));
  EXPECT_EQ(serial.run.trials.size(), 12U);
  EXPECT_EQ(spread.run.verdict->configuration, serial.run.verdict->configuration);
  EXPECT_LT(spread.run.duration_s, serial.run.duration_s);
  EXPECT_TRUE(has_note(spread, "spread over 3 GPUs"));
  EXPECT_FALSE(has_note(serial, "GPUs"));
  for (const auto* device : {"gpu:GPU-0", "gpu:GPU-1", "gpu:GPU-2"})
    EXPECT_GT(std::count(three.devices.begin(), three.devices.end(), device), 4) << device;
  for (std::size_t i = 0; i < spread.run.trials.size(); ++i)
    EXPECT_EQ(spread.run.trials[i].id, static_cast<int>(i) + 1);
}

TEST_F(SideBySideTest, comparisons_run_on_the_first_gpu_alone) {
  fakes::FakeGpuPool pool(clock_, 3);
  run(pool, "a.db");
  ASSERT_GT(pool.simple.pairs_run, 0);
  for (int i = 0; i < pool.simple.pairs_run; ++i) {
    EXPECT_EQ(pool.widths[pool.widths.size() - 1 - static_cast<std::size_t>(i)], 1U);
    EXPECT_EQ(pool.devices[pool.devices.size() - 1 - static_cast<std::size_t>(i)], "gpu:GPU-0");
  }
}

TEST_F(SideBySideTest, an_adaptive_search_tries_the_same_on_any_number_of_gpus) {
  request_.search = "adaptive";
  fakes::FakeGpuPool one(clock_, 1);
  fakes::FakeGpuPool two(clock_, 2);
  one.simple.noise = two.simple.noise = 0;
  const auto serial = run(one, "one.db");
  const auto spread = run(two, "two.db");
  EXPECT_EQ(tried(spread), tried(serial));
  EXPECT_EQ(spread.run.verdict->configuration, serial.run.verdict->configuration);
  EXPECT_GT(std::count(two.widths.begin(), two.widths.end(), 2U), 1);
}

TEST_F(SideBySideTest, gpus_that_disturb_each_other_work_one_after_another) {
  fakes::FakeGpuPool pool(clock_, 3);
  pool.disturbance = {1.0, 1.08, 1.0};
  const auto result = run(pool, "a.db");
  EXPECT_TRUE(has_note(result, "one after another: gpu:GPU-1 is"));
  ASSERT_GT(pool.widths.size(), 13U);  // the defaults, three times three alone and three at once
  EXPECT_TRUE(std::all_of(pool.widths.begin() + 13, pool.widths.end(), [](std::size_t width) { return width == 1; }));
  EXPECT_EQ(std::count(pool.devices.begin() + 19, pool.devices.end(), "gpu:GPU-0"),
            static_cast<std::ptrdiff_t>(pool.devices.size()) - 19);
}

TEST_F(SideBySideTest, a_trial_starts_when_it_is_measured) {
  fakes::FakeGpuPool pool(clock_, 3);
  const auto spread = run(pool, "a.db");
  ASSERT_EQ(spread.run.trials.size(), 12U);
  // The defaults, three alone, three at once; each for a second.
  for (std::size_t i = 1; i <= 3; ++i) EXPECT_NEAR(spread.run.trials[i].started_s, 5, 0.01) << i;
  fakes::FakeGpuPool disturbed(clock_, 3);
  disturbed.disturbance = {1.0, 1.08, 1.0};
  const auto serial = run(disturbed, "b.db");
  ASSERT_EQ(serial.run.trials.size(), 12U);
  for (std::size_t i = 1; i <= 3; ++i)
    EXPECT_NEAR(serial.run.trials[i].started_s, 12 + static_cast<double>(i), 0.01) << i;
}

TEST_F(SideBySideTest, what_one_gpu_has_measured_the_other_need_not_measure) {
  for (const int gpus : {3, 2}) {
    SCOPED_TRACE(gpus);
    request_.environment->gpus.resize(static_cast<std::size_t>(gpus));
    const auto database = fmt::format("{}.db", gpus);
    fakes::FakeGpuPool first(clock_, request_.environment->gpus.size());
    run(first, database);
    fakes::FakeGpuPool again(clock_, request_.environment->gpus.size());
    ++request_.random_budget;  // another question, else the first answer is this one's
    const auto result = run(again, database);
    EXPECT_EQ(again.simple.trials_run, 2 * gpus) << "whether their figures can stand side by side";
    EXPECT_TRUE(has_note(result, fmt::format("spread over {} GPUs", gpus)));
    for (const auto& trial : result.run.trials) EXPECT_TRUE(trial.cached) << trial.id;
  }
}

TEST_F(SideBySideTest, what_a_gpu_of_another_pace_has_measured_does_not_count) {
  const auto gpus = request_.environment->gpus;
  for (const double pace : {1.0, 1.1}) {
    SCOPED_TRACE(pace);
    const auto database = fmt::format("{}.db", pace);
    request_.environment->gpus = {gpus[1]};
    fakes::FakeGpuPool second(clock_, 1);
    second.pace = {pace};
    run(second, database);
    request_.environment->gpus = {gpus[0], gpus[1]};
    fakes::FakeGpuPool both(clock_, 2);
    both.pace = {1.0, pace};
    const auto result = run(both, database);
    EXPECT_EQ(has_note(result, "gpu:GPU-1 is left out"), pace > 1);
    ASSERT_EQ(result.run.trials.size(), 12U);
    EXPECT_FALSE(result.run.trials.front().cached) << "nothing was known of the two";
    for (std::size_t i = 1; i < result.run.trials.size(); ++i) EXPECT_EQ(result.run.trials[i].cached, pace == 1) << i;
  }
}

TEST_F(SideBySideTest, one_trial_that_another_gpu_has_measured_is_no_reason_to_look_at_the_neighbours) {
  request_.space.values = {{"use_tf32", {false}}};
  const auto gpus = request_.environment->gpus;
  request_.environment->gpus = {gpus[1]};
  fakes::FakeGpuPool second(clock_, 1);
  run(second, "a.db");
  request_.environment->gpus = {gpus[0], gpus[1]};
  fakes::FakeGpuPool both(clock_, 2);
  run(both, "a.db");
  EXPECT_TRUE(
      std::all_of(both.devices.begin(), both.devices.end(), [](const auto& device) { return device == "gpu:GPU-0"; }));
}

TEST_F(SideBySideTest, an_interrupt_on_one_gpu_keeps_what_the_run_has) {
  fakes::FakeGpuPool pool(clock_, 3);
  pool.simple.interrupt = [&] { return pool.simple.trials_run == 10; };
  const auto result = run(pool, "a.db");
  EXPECT_TRUE(result.run.interrupted);
  EXPECT_EQ(result.run.trials.size(), 4U);  // 6 of the 10 looked at the neighbours
  pool.simple.interrupt = [] { return false; };
  pool.simple.trials_run = 0;
  const auto whole = run(pool, "a.db").run;
  EXPECT_FALSE(whole.interrupted);
  int readings = 0;
  if (whole.speed)
    for (const auto& track : whole.speed->tracks) readings += static_cast<int>(track.readings.size());
  if (readings > 0) --readings;  // the first is a trial's
  EXPECT_EQ(pool.simple.trials_run, 8 + 6 + 2 + readings)
      << "the rest, the neighbours again, the answer and what was, alone, and the reference now and then";
}

TEST_F(SideBySideTest, the_cpu_provider_uses_one_slot) {
  request_.provider = "cpu";
  request_.space.values = {{"intra_op_num_threads", {1, 2}}};
  fakes::FakeGpuPool pool(clock_, 3);
  run(pool, "a.db");
  EXPECT_TRUE(std::all_of(pool.widths.begin(), pool.widths.end(), [](std::size_t width) { return width == 1; }));
}

TEST_F(SideBySideTest, what_the_card_reaches_is_measured_once_and_part_of_the_run) {
  request_.ceilings_folder = folder_ / "ceilings";
  fakes::FakeGpuPool pool(clock_, 1);
  pool.simple.ceilings->h2d_gb_per_s = 55;
  EXPECT_EQ(run(pool, "one.db").run.gpu_ceilings.value().h2d_gb_per_s, 55);
  EXPECT_EQ(run(pool, "two.db").run.gpu_ceilings.value().h2d_gb_per_s, 55);
  EXPECT_EQ(pool.simple.ceilings_measured, 1);
}

TEST_F(SideBySideTest, a_card_whose_ceilings_cannot_be_measured_is_still_tuned) {
  fakes::FakeGpuPool pool(clock_, 1);
  pool.simple.ceilings.reset();
  const auto result = run(pool, "one.db");
  EXPECT_FALSE(result.run.gpu_ceilings);
  EXPECT_TRUE(has_note(result, "were not measured: no GPU is here"));
  EXPECT_EQ(result.run.trials.size(), 12U);
}

}  // namespace
}  // namespace ridgeline::campaign
