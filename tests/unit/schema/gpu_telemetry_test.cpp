// SPDX-License-Identifier: Apache-2.0
#include "schema/gpu_telemetry.hpp"

#include <gtest/gtest.h>

#include "schema/measurement.hpp"

namespace ridgeline::schema {
namespace {

TEST(GpuTelemetry, survives_a_trip_through_json_with_its_unknowns) {
  GpuTelemetry telemetry;
  telemetry.uuid = "GPU-1";
  telemetry.timed_from_s = 0.5;
  telemetry.timed_to_s = 2;
  telemetry.throttle_ns = {{"power", 1e6}, {"thermal", 0}};
  telemetry.clock_reasons = {"sw_power_cap"};
  telemetry.energy_j = 123.5;
  telemetry.process_peak_bytes = std::int64_t{6} << 30;
  telemetry.neighbours_before = {{4711, std::nullopt}, {12, 5}};
  telemetry.discarded_rounds = 3;
  GpuSample fine;
  fine.at_s = 0.003;
  fine.memory_used_bytes = 77;
  GpuSample coarse;
  coarse.at_s = 0.75;
  coarse.sm_clock_mhz = 1980;
  coarse.clock_reasons = 0x4;
  telemetry.samples = {fine, coarse};

  const auto back = base::Json::parse(base::Json(telemetry).dump()).get<GpuTelemetry>();
  EXPECT_EQ(base::Json(back), base::Json(telemetry));
  ASSERT_EQ(back.samples.size(), 2U);
  EXPECT_DOUBLE_EQ(back.samples[0].at_s, 0.003);
  EXPECT_EQ(back.samples[0].memory_used_bytes, 77);
  EXPECT_FALSE(back.samples[0].sm_clock_mhz.has_value());
  EXPECT_EQ(back.samples[1].sm_clock_mhz, 1980);
  EXPECT_EQ(back.samples[1].clock_reasons, 0x4U);
  EXPECT_EQ(back.neighbours_before[0].pid, 4711);
  EXPECT_FALSE(back.neighbours_before[0].memory_bytes.has_value());
  EXPECT_EQ(back.throttle_ns.at("power"), 1e6);
}

TEST(GpuTelemetry, is_absent_from_records_that_were_written_before_it) {
  auto json = base::Json(Measurement{});
  json.erase("gpu");
  EXPECT_FALSE(json.get<Measurement>().gpu.has_value());
  EXPECT_FALSE(base::Json(Measurement{}).get<Measurement>().gpu.has_value());
  Measurement measurement;
  measurement.gpu.emplace().uuid = "GPU-2";
  const auto back = base::Json(measurement).get<Measurement>();
  ASSERT_TRUE(back.gpu.has_value());
  EXPECT_EQ(back.gpu->uuid, "GPU-2");
}

TEST(GpuTelemetry, takes_the_growth_of_the_device_when_the_process_is_not_listed) {
  GpuTelemetry telemetry;
  EXPECT_FALSE(telemetry.peak_bytes().has_value());
  telemetry.device_used_before_bytes = 1000;
  telemetry.device_peak_bytes = 5000;
  EXPECT_EQ(telemetry.peak_bytes(), 4000);
  telemetry.process_peak_bytes = 3500;
  EXPECT_EQ(telemetry.peak_bytes(), 3500);
}

TEST(GpuTelemetry, names_only_the_reasons_that_hold_clocks_down) {
  EXPECT_TRUE(clock_reason_names(0x1 | 0x2 | 0x100).empty());
  EXPECT_EQ(clock_reason_names(0x4 | 0x40), (std::vector<std::string>{"sw_power_cap", "hw_thermal_slowdown"}));
}

}  // namespace
}  // namespace ridgeline::schema
