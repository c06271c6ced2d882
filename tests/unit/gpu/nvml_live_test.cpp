// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml_live.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/fake_nvml.hpp"
#include "gpu/gpm_reader.hpp"
#include "gpu/nvml_device.hpp"

namespace ridgeline::gpu {
namespace {

class NvmlLiveTest : public ::testing::Test {
 protected:
  fakes::FakeNvml nvml_{RL_TEST_FAKE_NVML};
  std::shared_ptr<const NvmlApi> api_ = NvmlApi::load({RL_TEST_FAKE_NVML}).value();
  NvmlLive live(unsigned index = 0) { return {api_, api_->device_by_index(index).value()}; }
};

TEST_F(NvmlLiveTest, reads_the_pcie_link_against_its_maximum) {
  nvml_.set(kFakePcieGeneration, 3);
  nvml_.set(kFakePcieWidth, 8);
  const auto link = live().pcie_link();
  EXPECT_EQ(link.generation, 3);
  EXPECT_EQ(link.width, 8);
  EXPECT_EQ(link.max_generation, 5);
  EXPECT_EQ(link.max_width, 16);
  EXPECT_DOUBLE_EQ(live().pcie_sent_per_s().value(), 1.5e9);
  EXPECT_DOUBLE_EQ(live().pcie_received_per_s().value(), 2.5e9);
}

TEST_F(NvmlLiveTest, counts_links_that_are_down) {
  EXPECT_FALSE(live().nvlink_links());
  nvml_.set(kFakeNvlinks, 18);
  nvml_.set(kFakeNvlinksDown, 2);
  const auto links = live().nvlink_links();
  ASSERT_TRUE(links);
  EXPECT_EQ(links->present, 18);
  EXPECT_EQ(links->active, 16);
}

TEST_F(NvmlLiveTest, reads_counters_in_one_batch) {
  nvml_.script("throttled");
  nvml_.set(kFakePowerViolation, 1'000'000'000'000);
  const auto fields = live().fields();
  EXPECT_GE(fields.slowdown_ns[0].value_or(0), 1'000'000'000'000U);
  EXPECT_TRUE(fields.slowdown_ns[1] && fields.slowdown_ns[2] && fields.slowdown_ns[3] && fields.slowdown_ns[4]);
  EXPECT_FALSE(fields.slowdown_ns[5]) << "heat is known by software and hardware already";
  EXPECT_NEAR(fields.power_instant_w.value_or(0), 550, 150);
  EXPECT_EQ(fields.memory_temperature_c, 52);
  EXPECT_TRUE(fields.pcie_sent_bytes && fields.pcie_received_bytes);
  EXPECT_EQ(fields.nvlink_sent_bytes.value_or(1) % 1024, 0U);
}

TEST_F(NvmlLiveTest, falls_back_to_policies_where_fields_are_not_counted) {
  nvml_.set(kFakePowerViolation, 111);
  nvml_.set(kFakeThermalViolation, 222);
  const auto fields = live().fields();
  EXPECT_EQ(fields.slowdown_ns[0], 111U);
  EXPECT_EQ(fields.slowdown_ns[5], 222U);
  EXPECT_FALSE(fields.slowdown_ns[1] || fields.power_instant_w || fields.nvlink_sent_bytes);
}

TEST_F(NvmlLiveTest, knows_the_peak_memory_bandwidth) {
  EXPECT_NEAR(live().peak_memory_bandwidth().value(), 4.917e12, 1e9);  // 2 x 3201 MHz x 6144 bits
}

TEST_F(NvmlLiveTest, lists_compute_and_graphics_processes_once) {
  ASSERT_EQ(::setenv("RL_FAKE_NVML_PROCESSES", "0:10:1024:30:C,0:11:64:5:G,0:12:128:7:B,1:13:1:1:C", 1), 0);
  const auto processes = live().processes();
  const auto shares = live().process_shares(0);
  ::unsetenv("RL_FAKE_NVML_PROCESSES");
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 3U);
  EXPECT_EQ((*processes)[0].pid, 10);
  EXPECT_EQ((*processes)[0].memory_bytes, 1024LL << 20);
  EXPECT_TRUE((*processes)[0].compute && !(*processes)[0].graphics);
  EXPECT_EQ((*processes)[1].pid, 12);
  EXPECT_TRUE((*processes)[1].compute && (*processes)[1].graphics);
  EXPECT_TRUE(!(*processes)[2].compute && (*processes)[2].graphics);
  ASSERT_TRUE(shares);
  ASSERT_EQ(shares->size(), 3U);
  EXPECT_EQ((*shares)[0].sm_percent, 30);
  EXPECT_TRUE(live().process_shares(0)->empty());
}

TEST_F(NvmlLiveTest, lists_the_slices_of_a_divided_gpu) {
  EXPECT_TRUE(live().mig_slices().empty());
  nvml_.script("mig");
  const auto slices = live().mig_slices();
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[1].uuid, "MIG-fake-0-1");
  EXPECT_EQ(slices[1].name, "NVIDIA H200 MIG 3g.71gb");
  EXPECT_EQ(slices[1].gpu_instance, 2U);
  EXPECT_LT(NvmlDevice(api_, slices[1].handle).memory()->used, NvmlDevice(api_, slices[1].handle).memory()->total);
  auto gpm = GpmReader::open(api_, api_->device_by_index(0).value(), slices[1].gpu_instance);
  ASSERT_TRUE(gpm) << gpm.error().message;
}

TEST_F(NvmlLiveTest, tells_a_lost_gpu_from_one_that_refuses_readings) {
  EXPECT_TRUE(live().alive());
  nvml_.set(kFakeUnsupported, 1);
  EXPECT_TRUE(live().alive());
  nvml_.set(kFakeDeviceError, 15);
  const auto lost = live().alive();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().message, "reading the GPU: GPU is lost (NVML 15)");
  nvml_.set(kFakeDeviceError, 999);
  EXPECT_FALSE(live().alive());
}

TEST_F(NvmlLiveTest, survives_an_error_from_every_call) {
  nvml_.script("errors");
  const auto gpu = live();
  const auto fields = gpu.fields();
  EXPECT_FALSE(fields.slowdown_ns[0] || fields.power_instant_w);
  EXPECT_FALSE(gpu.processes() || gpu.process_shares(0) || gpu.nvlink_links() || gpu.pcie_link().width ||
               gpu.memory_busy_percent());
  EXPECT_TRUE(gpu.mig_slices().empty());
  const auto gpm = GpmReader::open(api_, api_->device_by_index(0).value());
  ASSERT_FALSE(gpm);
  EXPECT_EQ(gpm.error().message, "GPM: Error (NVML 999)");
}

TEST_F(NvmlLiveTest, averages_gpm_between_two_looks) {
  nvml_.script("healthy");
  auto gpm = GpmReader::open(api_, api_->device_by_index(0).value());
  ASSERT_TRUE(gpm) << gpm.error().message;
  EXPECT_FALSE(gpm->read());
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto reading = gpm->read();
  ASSERT_TRUE(reading);
  EXPECT_GT(reading->sm_percent.value_or(0), 50);
  EXPECT_GT(reading->tensor_percent.value_or(0), 15);
  EXPECT_GT(reading->pcie_received_per_s.value_or(0), 900 * 1048576.0);
  EXPECT_TRUE(reading->nvlink_sent_per_s && reading->dram_percent && reading->occupancy_percent);

  nvml_.set(kFakeDeviceError, 15);
  EXPECT_FALSE(gpm->read());
  nvml_.set(kFakeDeviceError, 0);
  EXPECT_FALSE(gpm->read()) << "nothing to compare with after a gap";
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(gpm->read());
}

TEST_F(NvmlLiveTest, leaves_out_what_gpm_has_no_number_for) {
  nvml_.script("healthy");
  nvml_.set(kFakeGpm, 2);
  auto gpm = GpmReader::open(api_, api_->device_by_index(0).value());
  ASSERT_TRUE(gpm) << gpm.error().message;
  EXPECT_FALSE(gpm->read());
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto reading = gpm->read();
  ASSERT_TRUE(reading);
  EXPECT_FALSE(reading->dram_percent);
  EXPECT_TRUE(reading->sm_percent);
}

TEST_F(NvmlLiveTest, says_that_a_gpu_has_no_gpm) {
  const auto gpm = GpmReader::open(api_, api_->device_by_index(0).value());
  ASSERT_FALSE(gpm);
  EXPECT_NE(gpm.error().message.find("needs Hopper or later"), std::string::npos);
}

TEST_F(NvmlLiveTest, opens_by_pci_address) {
  nvml_.set(kFakeDeviceCount, 2);
  const auto handle = api_->device_by_pci("0000:02:00.0");
  ASSERT_TRUE(handle) << handle.error().message;
  EXPECT_EQ(NvmlDevice(api_, *handle).uuid(), "GPU-fake-1");
  EXPECT_EQ(api_->device_by_pci("0000:09:00.0").error().code, base::ErrorCode::not_found);
}

TEST(NvmlVersions, an_old_driver_tells_less) {
  fakes::FakeNvml nvml(RL_TEST_FAKE_NVML_OLD);
  nvml.set(kFakePowerViolation, 5);
  nvml.set(kFakeReasons, 4);
  const auto api = NvmlApi::load({RL_TEST_FAKE_NVML_OLD}).value();
  EXPECT_EQ(api->driver_version(), "450.65.06");
  const auto handle = api->device_by_index(0).value();
  const NvmlLive live(api, handle);
  EXPECT_TRUE(live.alive());
  EXPECT_EQ(live.fields().slowdown_ns[0], 5U);
  EXPECT_EQ(NvmlDevice(api, handle).clock_reasons(), 4U);
  EXPECT_TRUE(live.processes());
  EXPECT_FALSE(live.process_shares(0));
  EXPECT_NE(GpmReader::open(api, handle).error().message.find("driver 525"), std::string::npos);
}

TEST(NvmlVersions, missing_functions_are_missing_readings) {
  fakes::FakeNvml nvml(RL_TEST_FAKE_NVML_MISSING);
  const auto api = NvmlApi::load({RL_TEST_FAKE_NVML_MISSING}).value();
  const auto handle = api->device_by_index(0).value();
  const NvmlLive live(api, handle);
  EXPECT_TRUE(live.alive());
  EXPECT_EQ(NvmlDevice(api, handle).name(), "NVIDIA H200");
  EXPECT_FALSE(live.processes() || live.fields().slowdown_ns[0] || live.peak_memory_bandwidth() ||
               live.pcie_sent_per_s() || live.encoder_percent() || live.performance_state() || live.fan_percent());
  EXPECT_FALSE(GpmReader::open(api, handle));
}

}  // namespace
}  // namespace ridgeline::gpu
