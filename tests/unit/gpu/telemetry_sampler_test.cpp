// SPDX-License-Identifier: Apache-2.0
#include "gpu/telemetry_sampler.hpp"
#include "fakes/words.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "fakes/fake_nvml.hpp"

namespace ridgeline::gpu {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);

class TelemetrySamplerTest : public ::testing::Test {
 protected:
  std::unique_ptr<TelemetrySampler> make(TelemetrySampler::Options options = {}) {
    auto api = NvmlApi::load({RL_TEST_FAKE_NVML});
    auto sampler = TelemetrySampler::make(api.value(), "GPU-fake-0", options);
    return std::move(sampler.value());
  }
  /// Until the sampler's thread has read the memory `times` times more.
  void wait_for_samples(int times) {
    const auto until = base::system_clock().now() + kPatience;
    const auto from = nvml_.get(kFakeMemoryCalls);
    while (nvml_.get(kFakeMemoryCalls) < from + times + 1) {
      ASSERT_LT(base::system_clock().now(), until) << "the sampler does not sample";
      base::system_clock().sleep_for(std::chrono::milliseconds(1));
    }
  }
  static TelemetrySampler::Options quick() {
    TelemetrySampler::Options options;
    options.fine = std::chrono::milliseconds(1);
    options.coarse = std::chrono::milliseconds(2);
    return options;
  }

  fakes::FakeNvml nvml_{RL_TEST_FAKE_NVML};
};

TEST_F(TelemetrySamplerTest, sees_a_short_peak_before_timing) {
  auto sampler = make();
  sampler->begin_trial();
  nvml_.set(kFakeOwnPid, ::getpid());
  nvml_.set(kFakeOwnMemory, 7'000'000'000);
  nvml_.set(kFakeMemoryUsed, 7'500'000'000);
  wait_for_samples(2);
  nvml_.set(kFakeOwnMemory, 2'000'000'000);
  nvml_.set(kFakeMemoryUsed, 2'500'000'000);
  wait_for_samples(2);
  nvml_.set(kFakeMemoryUsed, 600'000'000);
  const auto record = sampler->end_trial();
  EXPECT_EQ(record.uuid, "GPU-fake-0");
  EXPECT_EQ(record.process_peak_bytes, 7'000'000'000);
  EXPECT_EQ(record.device_peak_bytes, 7'500'000'000);
  EXPECT_EQ(record.device_used_before_bytes, 500'000'000);
  EXPECT_EQ(record.memory_free_before_bytes, 99'500'000'000);
  EXPECT_EQ(record.memory_free_after_bytes, 99'400'000'000);
  EXPECT_EQ(fakes::text_of(record.process_memory_note), "");
  EXPECT_GE(record.samples.size(), 2U);
  EXPECT_FALSE(record.samples.front().sm_clock_mhz.has_value());
}

TEST_F(TelemetrySamplerTest, reads_everything_while_it_is_timed) {
  auto sampler = make(quick());
  sampler->begin_trial();
  wait_for_samples(1);
  nvml_.set(kFakeEnergy, 1'000'000);
  nvml_.set(kFakePowerViolation, 5'000'000);
  sampler->begin_timing();
  sampler->begin_part();
  wait_for_samples(2);
  base::system_clock().sleep_for(std::chrono::milliseconds(1050));  // energy needs a window of some length
  nvml_.set(kFakePowerViolation, 105'000'000);
  nvml_.set(kFakeReasons, 0x4 | 0x1);
  const auto reading = sampler->end_part();
  EXPECT_EQ(reading.sm_clock_mhz, 1980);
  ASSERT_TRUE(reading.throttled_s.has_value());
  EXPECT_NEAR(*reading.throttled_s, 0.1, 1e-9);
  EXPECT_EQ(reading.others, 0);
  nvml_.set(kFakeSmClock, 990);
  nvml_.set(kFakeOwnPid, ::getpid());
  nvml_.set(kFakeOtherPid, 4711);
  sampler->begin_part();
  wait_for_samples(3);
  const auto slow = sampler->end_part();
  EXPECT_EQ(slow.sm_clock_mhz, 990);
  EXPECT_EQ(slow.throttled_s, 0);
  EXPECT_EQ(slow.others, 1);
  nvml_.set(kFakeOtherPid, 0);
  base::system_clock().sleep_for(std::chrono::milliseconds(60));  // beyond the least gap of kept samples
  nvml_.set(kFakeEnergy, 1'250'000);
  sampler->end_timing({1000, 0.2, 0.1, 1});
  const auto record = sampler->end_trial();
  EXPECT_GT(record.timed_to_s, record.timed_from_s);
  EXPECT_EQ(record.energy_j, 250);
  EXPECT_EQ(record.discarded_rounds, 1);
  EXPECT_EQ(record.energy_mj_per_item, 250);
  EXPECT_EQ(record.throttle_ns.at("power"), 100'000'000);
  EXPECT_EQ(record.throttle_ns.at("thermal"), 0);
  EXPECT_EQ(record.throttle_ns.count("reliability"), 0U);
  EXPECT_EQ(record.sm_clock_min_mhz, 990);
  EXPECT_EQ(record.clock_reasons, std::vector<std::string>{"sw_power_cap"});
  const auto& last = record.samples.back();
  EXPECT_EQ(last.temperature_c, 41);
  EXPECT_EQ(last.power_w, 120);
  EXPECT_EQ(last.utilization_percent, 87);
  EXPECT_EQ(last.memory_clock_mhz, 3201);
}

TEST_F(TelemetrySamplerTest, tells_in_how_many_samples_clocks_were_held_down) {
  nvml_.set(kFakeNoViolationStatus, 2);
  nvml_.set(kFakeReasons, 0x4 | 0x2);
  auto sampler = make(quick());
  sampler->begin_trial();
  wait_for_samples(1);
  sampler->begin_timing();
  sampler->begin_part();
  wait_for_samples(3);
  base::system_clock().sleep_for(std::chrono::milliseconds(60));  // beyond the least gap of kept samples
  wait_for_samples(1);
  const auto held = sampler->end_part();
  EXPECT_FALSE(held.throttled_s.has_value());
  EXPECT_EQ(held.held_share, 1);
  nvml_.set(kFakeReasons, 0x1 | 0x2);
  wait_for_samples(1);  // the one under way may have read the reasons before
  sampler->begin_part();
  wait_for_samples(3);
  EXPECT_EQ(sampler->end_part().held_share, 0) << "idleness and an application's clocks are no throttling";
  sampler->end_timing({10, 0.1, 0, 0});
  const auto record = sampler->end_trial();
  EXPECT_TRUE(record.throttle_ns.empty());
  EXPECT_EQ(record.clock_reasons, std::vector<std::string>{"sw_power_cap"});
}

TEST_F(TelemetrySamplerTest, looks_at_the_reasons_of_a_part_too_short_for_a_sample) {
  nvml_.set(kFakeReasons, 0x40);
  auto options = quick();
  options.coarse = std::chrono::hours(1);
  auto sampler = make(options);
  sampler->begin_trial();
  sampler->begin_timing();
  base::system_clock().sleep_for(std::chrono::milliseconds(20));  // the only sample has been taken
  sampler->begin_part();
  EXPECT_EQ(sampler->end_part().held_share, 1);
}

TEST_F(TelemetrySamplerTest, reads_the_slow_energy_counter_at_the_edges_only) {
  auto sampler = make(quick());
  sampler->begin_trial();
  wait_for_samples(3);
  sampler->begin_timing();
  wait_for_samples(5);
  sampler->end_timing({1, 0.1, 0, 0});
  (void)sampler->end_trial();
  EXPECT_EQ(nvml_.get(kFakeEnergyCalls), 2);
}

TEST_F(TelemetrySamplerTest, recognises_itself_among_the_numbers_of_a_host) {
  nvml_.set(kFakeOtherPid, 999'001);
  auto sampler = make();
  sampler->begin_trial();
  EXPECT_EQ(sampler->neighbours(), 1);
  nvml_.set(kFakeOwnPid, 999'002);  // what this container's process is on the host
  nvml_.set(kFakeOwnMemory, 3'000'000'000);
  wait_for_samples(2);
  EXPECT_EQ(sampler->neighbours(), 1);
  const auto record = sampler->end_trial();
  EXPECT_EQ(record.process_peak_bytes, 3'000'000'000);
  EXPECT_NE(fakes::text_of(record.process_memory_note).find("host's process IDs"), std::string::npos);
  ASSERT_EQ(record.neighbours_before.size(), 1U);
  EXPECT_EQ(record.neighbours_before[0].pid, 999'001);
  EXPECT_EQ(record.neighbours_before[0].memory_bytes, 1'000'000'000);
  ASSERT_EQ(record.neighbours_after.size(), 1U);
}

TEST_F(TelemetrySamplerTest, knows_the_processes_that_it_watches_over) {
  nvml_.set(kFakeOtherPid, 4711);
  TelemetrySampler::Options options;
  std::vector<std::int64_t> workers;
  options.workers = [&] { return workers; };
  auto sampler = make(options);
  EXPECT_EQ(sampler->neighbours(), 1);
  workers = {4711, 4712};
  EXPECT_EQ(sampler->neighbours(), 0);
  nvml_.set(kFakeOwnPid, 4712);
  EXPECT_EQ(sampler->neighbours(), 0);
  workers = {4712};
  EXPECT_EQ(sampler->neighbours(), 1);
}

TEST_F(TelemetrySamplerTest, takes_no_more_new_processes_for_workers_than_there_are) {
  TelemetrySampler::Options options;
  options.workers = [] { return std::vector<std::int64_t>{17, 18}; };
  auto sampler = make(options);
  nvml_.set(kFakeOwnPid, 999'001);  // what workers of this container are on the host
  nvml_.set(kFakeOtherPid, 999'002);
  EXPECT_EQ(sampler->neighbours(), 0);
  options.workers = [] { return std::vector<std::int64_t>{17}; };
  nvml_.set(kFakeOwnPid, 0);
  auto of_one = make(options);
  nvml_.set(kFakeOtherPid, 999'003);
  EXPECT_EQ(of_one->neighbours(), 0);
  nvml_.set(kFakeOwnPid, 999'004);
  EXPECT_EQ(of_one->neighbours(), 2) << "one of them is somebody else";
}

TEST_F(TelemetrySamplerTest, companions_are_no_neighbours_whenever_they_came) {
  nvml_.set(kFakeManyProcesses, 3);  // made ahead of the trial, in this container
  auto sampler = make();
  nvml_.set(kFakeOwnPid, ::getpid());
  sampler->begin_trial();
  sampler->expect_companions(3);
  EXPECT_EQ(sampler->neighbours(), 0);
  nvml_.set(kFakeOtherPid, 999'001);
  EXPECT_EQ(sampler->neighbours(), 1) << "somebody else came";
  nvml_.set(kFakeOtherPid, 0);
  const auto record = sampler->end_trial();
  EXPECT_TRUE(record.neighbours_before.empty());
  EXPECT_TRUE(record.neighbours_after.empty());
}

TEST_F(TelemetrySamplerTest, does_not_guess_between_two_new_processes) {
  auto sampler = make();
  sampler->begin_trial();
  nvml_.set(kFakeManyProcesses, 2);
  nvml_.set(kFakeMemoryUsed, 4'500'000'000);
  wait_for_samples(2);
  const auto record = sampler->end_trial();
  EXPECT_FALSE(record.process_peak_bytes.has_value());
  EXPECT_EQ(record.peak_bytes(), 4'000'000'000);
  EXPECT_NE(fakes::text_of(record.process_memory_note).find("does not show the worker"), std::string::npos);
}

TEST_F(TelemetrySamplerTest, takes_the_drivers_own_mark_when_it_rose_in_the_trial) {
  nvml_.set(kFakeOwnPid, ::getpid());
  nvml_.set(kFakeOwnMemory, 1'000'000'000);
  nvml_.set(kFakeAccountingPeak, 2'000'000'000);
  auto sampler = make();
  sampler->begin_trial();
  wait_for_samples(2);
  EXPECT_EQ(sampler->end_trial().process_peak_bytes, 1'000'000'000) << "the mark is of an earlier trial";
  sampler->begin_trial();
  nvml_.set(kFakeAccountingPeak, 5'000'000'000);
  wait_for_samples(2);
  EXPECT_EQ(sampler->end_trial().process_peak_bytes, 5'000'000'000);
}

TEST_F(TelemetrySamplerTest, thins_out_a_long_record_but_keeps_its_span) {
  auto options = quick();
  options.max_samples = 8;
  auto sampler = make(options);
  sampler->begin_trial();
  for (int step = 1; step <= 40; ++step) {
    nvml_.set(kFakeMemoryUsed, step * 100'000'000LL);
    wait_for_samples(1);
  }
  const auto record = sampler->end_trial();
  EXPECT_LE(record.samples.size(), 8U);
  EXPECT_GE(record.samples.size(), 4U);
  EXPECT_EQ(record.device_peak_bytes, 4'000'000'000);
  for (std::size_t i = 1; i < record.samples.size(); ++i) EXPECT_GT(record.samples[i].at_s, record.samples[i - 1].at_s);
}

TEST_F(TelemetrySamplerTest, records_nothing_that_the_driver_does_not_tell) {
  nvml_.set(kFakeUnsupported, 1);
  auto sampler = make(quick());
  sampler->begin_trial();
  sampler->begin_timing();
  sampler->begin_part();
  wait_for_samples(3);
  const auto reading = sampler->end_part();
  EXPECT_FALSE(reading.throttled_s.has_value());
  EXPECT_FALSE(reading.sm_clock_mhz.has_value());
  EXPECT_FALSE(reading.held_share.has_value());
  EXPECT_FALSE(sampler->neighbours().has_value());
  sampler->end_timing({10, 0.1, 0, 0});
  const auto record = sampler->end_trial();
  EXPECT_FALSE(record.peak_bytes().has_value());
  EXPECT_FALSE(record.energy_j.has_value());
  EXPECT_TRUE(record.throttle_ns.empty());
}

TEST_F(TelemetrySamplerTest, rests_between_trials) {
  auto sampler = make(quick());
  sampler->begin_trial();
  wait_for_samples(2);
  (void)sampler->end_trial();
  base::system_clock().sleep_for(std::chrono::milliseconds(5));
  const auto calls = nvml_.get(kFakeMemoryCalls);
  base::system_clock().sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(nvml_.get(kFakeMemoryCalls), calls);
}

TEST_F(TelemetrySamplerTest, refuses_a_gpu_that_is_not_there) {
  const auto api = NvmlApi::load({RL_TEST_FAKE_NVML});
  const auto sampler = TelemetrySampler::make(api.value(), "GPU-gone");
  ASSERT_FALSE(sampler);
  EXPECT_EQ(sampler.error().code, base::ErrorCode::not_found);
}

}  // namespace
}  // namespace ridgeline::gpu
