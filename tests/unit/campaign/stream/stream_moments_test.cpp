// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/stream_moments.hpp"

#include <gtest/gtest.h>

#include "campaign/stream/stream_gpu_reader.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_nvml.hpp"

namespace ridgeline::campaign {
namespace {

schema::StreamStatus status_at(double elapsed_s, std::int64_t offered, std::int64_t delivered) {
  schema::StreamStatus status;
  status.elapsed_s = elapsed_s;
  status.offered = offered;
  status.delivered = delivered;
  if (offered > delivered) status.dropped["deadline"] = offered - delivered;
  return status;
}

TEST(StreamMoments, are_a_second_each_with_its_own_latencies) {
  StreamMoments moments;
  for (int i = 1; i <= 100; ++i) moments.add_frame(i);
  moments.add(status_at(0.5, 60, 60), std::nullopt);
  EXPECT_EQ(moments.recent().at_s, 0) << "no second is over yet";
  moments.add(status_at(1, 110, 100), schema::StreamGpu{50, {}, {}, 61, {}});
  EXPECT_EQ(moments.recent().offered_per_s, 110);
  EXPECT_EQ(moments.recent().dropped_per_s, 10);
  EXPECT_NEAR(*moments.recent().p50, 50, 0.1);
  EXPECT_FALSE(moments.recent().p99) << "of 100 frames";
  EXPECT_EQ(moments.recent().gpu->temperature_c, 61);
  moments.add(status_at(2, 110, 100), std::nullopt);
  EXPECT_FALSE(moments.recent().p50) << "nothing was delivered in it";
  moments.add_frame(7);
  const auto all = moments.take(status_at(2.5, 111, 101));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].delivered_per_s, 2);
  EXPECT_NEAR(*all[2].p50, 7, 0.01);
  EXPECT_FALSE(all[2].p99);
}

TEST(StreamMoments, gather_the_frames_that_a_percentile_needs) {
  StreamMoments moments;
  for (int second = 1; second <= 25; ++second) {
    // The first second is slow, and counts nowhere else.
    for (int i = 1; i <= 100; ++i) moments.add_frame(second == 1 ? 500 : i);
    moments.add(status_at(second, 100 * second, 100 * second), std::nullopt);
    EXPECT_EQ(moments.recent().p95.has_value(), second >= 3) << second;
    EXPECT_EQ(moments.recent().p99.has_value(), second >= 11) << "kept until it is known anew";
  }
  const auto all = moments.take(status_at(25, 2500, 2500));
  ASSERT_EQ(all.size(), 25U);
  for (const auto& moment : all) {
    SCOPED_TRACE(moment.at_s);
    EXPECT_TRUE(moment.p50);
    EXPECT_EQ(moment.p95.has_value(), moment.at_s >= 3 && static_cast<int>(moment.at_s) % 2 == 1);
    EXPECT_EQ(moment.p99.has_value(), moment.at_s == 11 || moment.at_s == 21);
    EXPECT_NEAR(moment.p99.value_or(99), 99, 0.2);
  }
}

TEST(StreamMoments, stay_few_however_long_a_run_is) {
  StreamMoments moments;
  constexpr int kSeconds = 9000;
  for (int second = 1; second <= kSeconds; ++second) {
    moments.add_frame(second % 2 == 0 ? 10 : 20);
    moments.add(status_at(second, 10 * second, 10 * second), std::nullopt);
    ASSERT_EQ(moments.recent().at_s, second) << "the last second is a second still";
  }
  const auto all = moments.take(status_at(kSeconds, 10 * kSeconds, 10 * kSeconds));
  EXPECT_LT(all.size(), 4200U);
  EXPECT_GT(all.size(), 2000U);
  EXPECT_NEAR(all.front().delivered_per_s, 10, 1e-9);
  EXPECT_NEAR(*all.front().p50, 15, 0.01);
}

TEST(StreamGpuReader, reads_the_pipelines_gpu_once_a_second) {
  fakes::FakeNvml nvml(RL_TEST_FAKE_NVML);
  fakes::FakeClock clock;
  StreamGpuReader reader("gpu:GPU-fake-0", clock, {RL_TEST_FAKE_NVML});
  ASSERT_TRUE(reader.read());
  EXPECT_GT(reader.read()->memory_total_bytes.value_or(0), 1e9);
  EXPECT_TRUE(reader.read()->power_w);
  EXPECT_TRUE(reader.read()->temperature_c);
  const auto calls = nvml.get(kFakeMemoryCalls);
  EXPECT_TRUE(reader.read());
  EXPECT_EQ(nvml.get(kFakeMemoryCalls), calls);
  clock.advance(std::chrono::seconds(1));
  EXPECT_TRUE(reader.read());
  EXPECT_EQ(nvml.get(kFakeMemoryCalls), calls + 1);
  EXPECT_FALSE(StreamGpuReader("cpu:x/4", clock, {RL_TEST_FAKE_NVML}).read());
  EXPECT_FALSE(StreamGpuReader("gpu:GPU-gone", clock, {RL_TEST_FAKE_NVML}).read());
}

}  // namespace
}  // namespace ridgeline::campaign
