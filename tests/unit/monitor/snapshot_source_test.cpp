// SPDX-License-Identifier: Apache-2.0
#include "monitor/snapshot_source.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_nvml.hpp"
#include "fakes/fake_sysfs.hpp"

namespace ridgeline::monitor {
namespace {

class SnapshotSourceTest : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("RL_FAKE_NVML_PROCESSES"); }
  base::Result<SnapshotSource> open(const std::string& devices = "all", const char* library = RL_TEST_FAKE_NVML,
                                    bool measure_pcie = false) {
    SourceOptions options;
    options.nvml = {library};
    options.sysfs = sysfs_.path();
    options.devices = devices;
    options.measure_pcie = measure_pcie;
    return SnapshotSource::open(options, clock_);
  }
  /// For its side effects: rates need it.
  static void first_look(SnapshotSource& source) { EXPECT_FALSE(source.look().time_utc.empty()); }
  /// A later look. GPM of the fake wants real time to pass too.
  Snapshot look(SnapshotSource& source, double after_s = 1) {
    clock_.advance(base::from_seconds(after_s));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return source.look();
  }
  fakes::FakeNvml nvml_{RL_TEST_FAKE_NVML};
  fakes::FakeSysfs sysfs_;
  fakes::FakeClock clock_;
};

TEST_F(SnapshotSourceTest, shows_a_busy_gpu_from_the_second_look_on) {
  nvml_.script("healthy");
  auto source = open().value();
  const auto first = source.look();
  ASSERT_EQ(first.gpus.size(), 1U);
  EXPECT_FALSE(first.gpus[0].sm_percent);
  EXPECT_EQ(first.interval_s, 0);
  const auto second = look(source);
  const auto& gpu = second.gpus[0];
  EXPECT_EQ(gpu.state, GpuState::ok);
  EXPECT_EQ(gpu.name, "NVIDIA H200");
  EXPECT_GT(gpu.sm_percent.value_or(0), 40);
  EXPECT_GT(gpu.dram_bytes_per_s.value_or(0), 1e11);
  EXPECT_EQ(gpu.pcie_generation, 5);
  EXPECT_EQ(gpu.nvlink_links_active, 18);
  EXPECT_TRUE(gpu.pcie_received_bytes_per_s && gpu.nvlink_sent_bytes_per_s && gpu.power_w && gpu.memory_temperature_c);
  EXPECT_TRUE(gpu.slowdown_reasons.empty());
  EXPECT_EQ(second.interval_s, 1);
  EXPECT_EQ(second.driver_version, "580.65.06");
  EXPECT_TRUE(second.notes.empty());
}

TEST_F(SnapshotSourceTest, counts_the_time_held_down_since_the_start) {
  nvml_.set(kFakeReasons, 0x4);
  nvml_.set(kFakePowerViolation, 7'000'000'000);
  auto source = open().value();
  EXPECT_EQ(source.look().gpus[0].slowdown_since_start_s.at("sw_power_cap"), 0);
  nvml_.set(kFakePowerViolation, 7'600'000'000);
  const auto gpu = look(source, 5).gpus[0];
  EXPECT_NEAR(gpu.slowdown_since_start_s.at("sw_power_cap"), 0.6, 1e-9);
  EXPECT_NEAR(gpu.slowdown_total_s.at("sw_power_cap"), 7.6, 1e-9);
  EXPECT_EQ(gpu.slowdown_reasons, std::vector<std::string>{"sw_power_cap"});
}

TEST_F(SnapshotSourceTest, reads_the_slow_energy_counter_every_fifteen_seconds_only) {
  nvml_.set(kFakeEnergy, 1'000'000);
  nvml_.set(kFakePower, 200'000);
  auto source = open().value();
  EXPECT_EQ(source.look().gpus[0].energy_since_start_j, 0);
  nvml_.set(kFakeEnergy, 9'000'000);
  const auto bridged = look(source).gpus[0];
  EXPECT_EQ(bridged.energy_since_start_j, 200) << "200 W for a second";
  EXPECT_EQ(bridged.energy_total_j, 1200) << "of exporters and recordings too";
  EXPECT_EQ(look(source, 13).gpus[0].energy_since_start_j, 2800);
  EXPECT_EQ(nvml_.get(kFakeEnergyCalls), 1);
  const auto gpu = look(source, 2).gpus[0];
  EXPECT_EQ(nvml_.get(kFakeEnergyCalls), 2);
  EXPECT_EQ(gpu.energy_since_start_j, 8000);
  EXPECT_EQ(gpu.energy_total_j, 9000);
}

TEST_F(SnapshotSourceTest, energy_goes_on_when_the_driver_is_loaded_again) {
  nvml_.set(kFakeEnergy, 50'000'000);
  nvml_.set(kFakePower, 0);
  auto source = open().value();
  first_look(source);
  nvml_.set(kFakeEnergy, 50'300'000);
  EXPECT_EQ(look(source, 15).gpus[0].energy_since_start_j, 300);
  nvml_.set(kFakeEnergy, 20'000);
  const auto again = look(source, 15).gpus[0];
  EXPECT_EQ(again.energy_since_start_j, 300);
  EXPECT_EQ(again.energy_total_j, 20);
  nvml_.set(kFakeEnergy, 120'000);
  EXPECT_EQ(look(source, 15).gpus[0].energy_since_start_j, 400);
}

// Of a core at most 0.5 %, also where processes run and clocks are throttled: these take the driver 2 ms and more each.
TEST_F(SnapshotSourceTest, asks_a_busy_gpu_seldom_for_what_the_driver_is_slow_with) {
  nvml_.script("throttled");
  ASSERT_EQ(::setenv("RL_FAKE_NVML_PROCESSES", ("0:" + std::to_string(::getpid()) + ":1024:30:C").c_str(), 1), 0);
  auto source = open().value();
  first_look(source);
  Snapshot last;
  for (int i = 0; i < 60; ++i) last = look(source);
  EXPECT_TRUE(last.gpus[0].sm_percent && last.processes.at(0).sm_percent);
  EXPECT_LE(nvml_.get(kFakeGpmCalls), 32);
  EXPECT_LE(nvml_.get(kFakeShareCalls), 13);
  EXPECT_LE(nvml_.get(kFakeSlowdownCalls), 18);
  EXPECT_LE(nvml_.get(kFakeEnergyCalls), 5);
}

TEST_F(SnapshotSourceTest, counts_a_slow_down_to_its_end) {
  nvml_.script("healthy");
  auto source = open().value();
  first_look(source);
  nvml_.set(kFakePowerViolation, 0);
  first_look(source);
  nvml_.set(kFakeReasons, 0x4);
  for (int i = 1; i <= 3; ++i)
    EXPECT_NEAR(look(source).gpus[0].slowdown_since_start_s.at("sw_power_cap"), i, 1e-9) << "by the reasons, at first";
  nvml_.set(kFakeReasons, 0);
  nvml_.set(kFakePowerViolation, 3'400'000'000);
  EXPECT_NEAR(look(source, 2).gpus[0].slowdown_since_start_s.at("sw_power_cap"), 3.4, 1e-9) << "by the counter";
}

// A reason may be set more often than its counter counts: what runs ahead must not add up.
TEST_F(SnapshotSourceTest, keeps_the_time_held_down_with_the_counter) {
  nvml_.script("healthy");
  nvml_.set(kFakeReasons, 0x4);
  auto source = open().value();
  nvml_.set(kFakePowerViolation, 0);
  first_look(source);
  for (int second = 1; second <= 60; ++second) {
    nvml_.set(kFakePowerViolation, second * 250'000'000LL);
    const double shown = look(source).gpus[0].slowdown_since_start_s.at("sw_power_cap");
    if (second > 20) {
      EXPECT_NEAR(shown, second * 0.25, 1) << "after " << second << " s";
    }
  }
}

TEST_F(SnapshotSourceTest, a_lost_gpu_has_no_readings) {
  nvml_.script("healthy");
  auto source = open().value();
  first_look(source);
  ASSERT_TRUE(look(source).gpus[0].energy_total_j);
  nvml_.set(kFakeDeviceError, 15);
  const auto gone = look(source).gpus[0];
  EXPECT_EQ(gone.state, GpuState::lost);
  EXPECT_EQ(gone.name, "NVIDIA H200");
  EXPECT_FALSE(gone.energy_total_j) << "a counter that falls is taken for one that began again";
  EXPECT_FALSE(gone.power_limit_w || gone.pcie_generation || gone.pcie_width || gone.nvlink_links_active ||
               gone.nvlink_links_present);
}

TEST_F(SnapshotSourceTest, opens_no_more_gpus_than_it_watches) {
  nvml_.set(kFakeDeviceCount, 1);
  ASSERT_TRUE(open());
  const auto one = nvml_.get(kFakeDeviceCalls);
  nvml_.set(kFakeDeviceCount, 8);
  auto source = open("3").value();
  EXPECT_EQ(nvml_.get(kFakeDeviceCalls) - one, one);
  EXPECT_EQ(source.look().gpus.at(0).uuid, "GPU-fake-3");
}

TEST_F(SnapshotSourceTest, never_lets_energy_shrink) {
  nvml_.set(kFakeEnergy, 1'000'000);
  nvml_.set(kFakePower, 500'000);
  auto source = open().value();
  first_look(source);
  EXPECT_EQ(look(source, 4).gpus[0].energy_since_start_j, 2000);
  nvml_.set(kFakeEnergy, 2'500'000);  // the estimate was too high
  EXPECT_EQ(look(source, 12).gpus[0].energy_since_start_j, 2000);
}

TEST_F(SnapshotSourceTest, goes_on_when_a_gpu_is_lost_and_comes_back) {
  nvml_.script("healthy");
  nvml_.set(kFakeDeviceCount, 2);
  auto source = open().value();
  first_look(source);
  nvml_.set(kFakeFailingDevice, 2);
  nvml_.set(kFakeDeviceError, 15);
  const auto gone = look(source);
  ASSERT_EQ(gone.gpus.size(), 2U);
  EXPECT_EQ(gone.gpus[0].state, GpuState::ok);
  EXPECT_EQ(gone.gpus[1].state, GpuState::lost);
  EXPECT_EQ(gone.gpus[1].note, "reading the GPU: GPU is lost (NVML 15)");
  EXPECT_EQ(gone.gpus[1].name, "NVIDIA H200");
  nvml_.set(kFakeDeviceError, 0);
  EXPECT_EQ(look(source).gpus[1].state, GpuState::ok);
}

TEST_F(SnapshotSourceTest, never_asks_a_sleeping_gpu) {
  nvml_.set(kFakeDeviceCount, 2);
  sysfs_.add("0000:01:00.0", "0x10de", "0x030000", "suspended");
  sysfs_.add("0000:02:00.0", "0x10de", "0x030000", "suspended");
  auto source = open().value();
  const auto all_asleep = source.look();
  ASSERT_EQ(all_asleep.gpus.size(), 2U);
  EXPECT_EQ(all_asleep.gpus[0].state, GpuState::asleep);
  EXPECT_EQ(all_asleep.gpus[1].pci_bus_id, "0000:02:00.0");
  EXPECT_EQ(all_asleep.driver_version, "") << "NVML is not even opened";
  EXPECT_EQ(nvml_.get(kFakeDeviceCalls), 0);

  sysfs_.set_status("0000:02:00.0", "active");
  const auto one_awake = look(source);
  EXPECT_EQ(one_awake.gpus[0].state, GpuState::asleep);
  EXPECT_EQ(one_awake.gpus[1].state, GpuState::ok);
  EXPECT_EQ(one_awake.gpus[1].uuid, "GPU-fake-1");
  const auto calls = nvml_.get(kFakeDeviceCalls);
  EXPECT_GT(calls, 0);
  sysfs_.set_status("0000:02:00.0", "suspended");
  const auto again = look(source);
  EXPECT_EQ(again.gpus[1].state, GpuState::asleep);
  EXPECT_EQ(again.gpus[1].name, "NVIDIA H200") << "what is known stays known";
  EXPECT_EQ(nvml_.get(kFakeDeviceCalls), calls);
}

TEST_F(SnapshotSourceTest, lets_a_gpu_sleep_that_fell_asleep_later) {
  sysfs_.add("0000:01:00.0", "0x10de", "0x030000", "active");
  auto source = open().value();
  EXPECT_EQ(source.look().gpus[0].state, GpuState::ok);
  sysfs_.set_status("0000:01:00.0", "suspended");
  const auto calls = nvml_.get(kFakeDeviceCalls);
  EXPECT_EQ(look(source).gpus[0].state, GpuState::asleep);
  EXPECT_EQ(nvml_.get(kFakeDeviceCalls), calls);
}

TEST_F(SnapshotSourceTest, lists_processes_with_their_shares) {
  const auto own = std::to_string(::getpid());
  ASSERT_EQ(::setenv("RL_FAKE_NVML_PROCESSES", ("0:" + own + ":1024:30:C,0:4000000:64:5:G").c_str(), 1), 0);
  auto source = open().value();
  first_look(source);
  const auto snapshot = look(source);
  ASSERT_EQ(snapshot.processes.size(), 2U);
  EXPECT_EQ(snapshot.processes[0].pid, ::getpid());
  EXPECT_EQ(snapshot.processes[0].sm_percent, 30);
  EXPECT_EQ(snapshot.processes[0].kind, "compute");
  EXPECT_FALSE(snapshot.processes[0].name.empty());
  EXPECT_TRUE(snapshot.processes[0].cpu_percent && snapshot.processes[0].host_memory_bytes);
  EXPECT_EQ(snapshot.processes[1].kind, "graphics");
  EXPECT_EQ(snapshot.processes[1].name, "");
  ASSERT_EQ(snapshot.notes.size(), 1U);
  EXPECT_NE(snapshot.notes[0].find("1 of 2 processes"), std::string::npos);
}

TEST_F(SnapshotSourceTest, chooses_gpus_by_number_or_uuid) {
  nvml_.set(kFakeDeviceCount, 3);
  auto source = open("2,GPU-fake-0").value();
  const auto snapshot = source.look();
  ASSERT_EQ(snapshot.gpus.size(), 2U);
  EXPECT_EQ(snapshot.gpus[0].index, 0);
  EXPECT_EQ(snapshot.gpus[1].index, 2);
  const auto unknown = open("5");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(
      unknown.error().message,
      "--devices 5: no GPU \"5\"; there is 0 (NVIDIA H200, GPU-fake-0), 1 (NVIDIA H200, GPU-fake-1), 2 (NVIDIA H200, "
      "GPU-fake-2)");
  EXPECT_EQ(open("").error().message,
            "--devices \"\": expected numbers or beginnings of UUIDs, joined by commas, or all");
}

TEST_F(SnapshotSourceTest, shows_the_host_and_the_reason_without_a_gpu) {
  auto source = open("all", "/nowhere/libnvidia-ml.so.1").value();
  const auto snapshot = source.look();
  EXPECT_TRUE(snapshot.gpus.empty());
  EXPECT_GT(snapshot.host.cpus, 0);
  ASSERT_EQ(snapshot.notes.size(), 1U);
  EXPECT_NE(snapshot.notes[0].find("/nowhere/libnvidia-ml.so.1"), std::string::npos);
  const auto chosen = open("0", "/nowhere/libnvidia-ml.so.1");
  ASSERT_FALSE(chosen);
  EXPECT_NE(chosen.error().message.find("no NVIDIA GPU is visible"), std::string::npos);
}

TEST_F(SnapshotSourceTest, shows_the_slices_of_a_divided_gpu) {
  nvml_.script("mig");
  auto source = open().value();
  first_look(source);
  const auto gpu = look(source).gpus[0];
  ASSERT_EQ(gpu.slices.size(), 2U);
  EXPECT_EQ(gpu.slices[0].name, "NVIDIA H200 MIG 3g.71gb");
  EXPECT_TRUE(gpu.slices[0].memory_used_bytes && gpu.slices[0].sm_percent);
}

TEST_F(SnapshotSourceTest, measures_pcie_only_when_asked) {
  auto quiet = open().value();
  first_look(quiet);
  EXPECT_FALSE(look(quiet).gpus[0].pcie_sent_bytes_per_s);
  EXPECT_EQ(nvml_.get(kFakeSlowCalls), 0);
  auto asked = open("all", RL_TEST_FAKE_NVML, true).value();
  EXPECT_EQ(asked.look().gpus[0].pcie_received_bytes_per_s, 2.5e9);
}

// On an H200 GPM counts PCIe traffic every 100 ms, and the counters have 32 bits: full traffic fills them in 70 ms.
TEST_F(SnapshotSourceTest, counts_pcie_traffic_over_a_time_in_which_the_counters_go_round_once_at_most) {
  nvml_.set(kFakeGpm, 3);
  nvml_.set(kFakePcieBytes, (1LL << 32) - 1000);
  auto source = open().value();
  first_look(source);
  nvml_.set(kFakePcieBytes, (1LL << 32) + 5000);
  const auto soon = look(source, 0.05).gpus[0];
  EXPECT_DOUBLE_EQ(soon.pcie_sent_bytes_per_s.value_or(0), 120'000);
  EXPECT_DOUBLE_EQ(soon.pcie_received_bytes_per_s.value_or(0), 120'000);
  EXPECT_FALSE(look(source, 0.07).gpus[0].pcie_sent_bytes_per_s) << "4.5 GB at most";
}

TEST_F(SnapshotSourceTest, measures_pcie_where_the_counters_are_of_no_use) {
  nvml_.set(kFakePcieBytes, 7);
  auto source = open("all", RL_TEST_FAKE_NVML, true).value();
  first_look(source);
  EXPECT_EQ(look(source, 1).gpus[0].pcie_received_bytes_per_s, 2.5e9);
}

TEST_F(SnapshotSourceTest, reads_what_old_and_poor_drivers_tell) {
  fakes::FakeNvml old(RL_TEST_FAKE_NVML_OLD);
  auto source = open("all", RL_TEST_FAKE_NVML_OLD).value();
  first_look(source);
  const auto gpu = look(source).gpus[0];
  EXPECT_EQ(gpu.state, GpuState::ok);
  EXPECT_TRUE(gpu.power_w && gpu.utilization_percent && gpu.memory_used_bytes);
  EXPECT_FALSE(gpu.sm_percent || gpu.power_instant_w);
  EXPECT_NE(gpu.note.find("driver 525"), std::string::npos);

  fakes::FakeNvml poor(RL_TEST_FAKE_NVML_MISSING);
  auto bare = open("all", RL_TEST_FAKE_NVML_MISSING).value();
  first_look(bare);
  const auto reading = look(bare).gpus[0];
  EXPECT_EQ(reading.name, "NVIDIA H200");
  EXPECT_FALSE(reading.power_w || reading.utilization_percent || reading.memory_used_bytes || reading.temperature_c);
}

TEST_F(SnapshotSourceTest, survives_an_error_from_every_call) {
  nvml_.script("errors");
  auto source = open().value();
  for (int i = 0; i < 3; ++i) {
    const auto snapshot = look(source);
    ASSERT_EQ(snapshot.gpus.size(), 1U);
    EXPECT_EQ(snapshot.gpus[0].state, GpuState::lost);
    EXPECT_EQ(snapshot.gpus[0].note, "reading the GPU: Error (NVML 999)");
  }
}

}  // namespace
}  // namespace ridgeline::monitor
