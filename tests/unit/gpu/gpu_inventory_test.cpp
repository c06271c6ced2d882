// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu_inventory.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_nvml.hpp"
#include "fakes/words.hpp"
#include "gpu/nvml_device.hpp"

namespace ridgeline::gpu {
namespace {

std::string text_of(const GpuInventory& inventory) { return fakes::text_of(inventory.note); }

class GpuInventoryTest : public ::testing::Test {
 protected:
  fakes::FakeNvml nvml_{RL_TEST_FAKE_NVML};
  GpuInventory read() { return GpuInventory::read({RL_TEST_FAKE_NVML}); }
};

TEST_F(GpuInventoryTest, describes_a_gpu) {
  const auto inventory = read();
  EXPECT_TRUE(inventory.note.empty());
  ASSERT_EQ(inventory.gpus.size(), 1U);
  const auto& gpu = inventory.gpus[0];
  EXPECT_EQ(gpu.name, "NVIDIA H200");
  EXPECT_EQ(gpu.uuid, "GPU-fake-0");
  EXPECT_EQ(gpu.index, 0);
  EXPECT_EQ(gpu.memory_bytes, 100'000'000'000);
  EXPECT_EQ(gpu.memory_free_bytes, 99'500'000'000);
  EXPECT_EQ(gpu.architecture, "Hopper");
  EXPECT_EQ(gpu.compute_capability, "9.0");
  EXPECT_EQ(gpu.multiprocessors, 132);
  EXPECT_EQ(gpu.driver_version, "580.65.06");
  EXPECT_EQ(gpu.cuda_version, "13.0");
  EXPECT_EQ(gpu.max_sm_clock_mhz, 1980);
  EXPECT_EQ(gpu.max_memory_clock_mhz, 3201);
  EXPECT_EQ(gpu.power_limit_w, 650);
  EXPECT_EQ(gpu.default_power_limit_w, 700);
  EXPECT_EQ(gpu.pci_bus_id, "00000000:01:00.0");
  EXPECT_EQ(gpu.mig, false);
  EXPECT_EQ(gpu.ecc, true);
  EXPECT_EQ(gpu.persistence, true);
}

TEST_F(GpuInventoryTest, leaves_unknown_what_a_driver_does_not_tell) {
  nvml_.set(kFakeUnsupported, 1);
  const auto inventory = read();
  ASSERT_EQ(inventory.gpus.size(), 1U);
  const auto& gpu = inventory.gpus[0];
  EXPECT_EQ(gpu.name, "NVIDIA H200");
  EXPECT_EQ(gpu.architecture, "");
  EXPECT_EQ(gpu.memory_bytes, 0);
  EXPECT_FALSE(gpu.memory_free_bytes || gpu.multiprocessors || gpu.max_sm_clock_mhz || gpu.power_limit_w || gpu.mig ||
               gpu.ecc || gpu.persistence);
}

TEST_F(GpuInventoryTest, says_why_there_is_none) {
  const auto absent = GpuInventory::read({"/nowhere/libnvidia-ml.so.1"});
  EXPECT_TRUE(absent.gpus.empty());
  EXPECT_NE(text_of(absent).find("/nowhere/libnvidia-ml.so.1"), std::string::npos) << text_of(absent);

  nvml_.set(kFakeInitStatus, 9);
  EXPECT_NE(text_of(read()).find("Driver Not Loaded (NVML 9)"), std::string::npos) << text_of(read());

  nvml_.set(kFakeInitStatus, 0);
  nvml_.set(kFakeDeviceCount, 0);
  EXPECT_NE(text_of(read()).find("lists none"), std::string::npos) << text_of(read());
}

TEST_F(GpuInventoryTest, lists_the_others_when_one_is_lost) {
  nvml_.set(kFakeDeviceCount, 3);
  nvml_.set(kFakeLostDevice, 2);
  const auto inventory = read();
  ASSERT_EQ(inventory.gpus.size(), 2U);
  EXPECT_EQ(inventory.gpus[1].index, 2);
  EXPECT_EQ(text_of(inventory), "opening GPU 1: GPU is lost (NVML 15)");
}

TEST_F(GpuInventoryTest, obeys_the_visible_devices) {
  nvml_.set(kFakeDeviceCount, 3);
  auto inventory = read();
  inventory.keep_visible("2,GPU-fake-0");
  ASSERT_EQ(inventory.gpus.size(), 2U);
  EXPECT_EQ(inventory.gpus[0].index, 2);
  EXPECT_EQ(inventory.gpus[1].index, 0);
  EXPECT_EQ(text_of(inventory), "CUDA_VISIBLE_DEVICES=\"2,GPU-fake-0\" hides 1 of 3 GPUs");

  auto cut = read();
  cut.keep_visible("1,-1,0");
  ASSERT_EQ(cut.gpus.size(), 1U);
  EXPECT_EQ(cut.gpus[0].index, 1);

  auto none = read();
  none.keep_visible("");
  EXPECT_TRUE(none.gpus.empty());
}

TEST_F(GpuInventoryTest, opens_a_gpu_by_uuid) {
  const auto api = NvmlApi::load({RL_TEST_FAKE_NVML});
  ASSERT_TRUE(api) << api.error().message;
  const auto handle = (*api)->device_by_uuid("GPU-fake-0");
  ASSERT_TRUE(handle) << handle.error().message;
  EXPECT_EQ(NvmlDevice(*api, *handle).uuid(), "GPU-fake-0");
  const auto unknown = (*api)->device_by_uuid("GPU-other");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, base::ErrorCode::not_found);
}

TEST_F(GpuInventoryTest, reads_a_process_list_longer_than_expected) {
  nvml_.set(kFakeManyProcesses, 70);
  const auto api = NvmlApi::load({RL_TEST_FAKE_NVML});
  ASSERT_TRUE(api);
  const NvmlDevice device(*api, (*api)->device_by_index(0).value());
  const auto list = device.compute_processes();
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 70U);
  EXPECT_EQ(list->back().pid, 100069);
}

TEST_F(GpuInventoryTest, reads_throttle_time_from_either_interface) {
  nvml_.set(kFakePowerViolation, 111);
  nvml_.set(kFakeThermalViolation, 222);
  const auto api = NvmlApi::load({RL_TEST_FAKE_NVML});
  ASSERT_TRUE(api);
  const NvmlDevice device(*api, (*api)->device_by_index(0).value());
  for (const int absent : {0, 1}) {
    nvml_.set(kFakeNoViolationStatus, absent);
    const auto counters = device.throttle_counters();
    EXPECT_EQ(counters[0], 111U);
    EXPECT_EQ(counters[1], 222U);
    EXPECT_FALSE(counters[2].has_value());
  }
  nvml_.set(kFakeNoViolationStatus, 2);
  for (const auto& counter : device.throttle_counters()) EXPECT_FALSE(counter.has_value());
}

}  // namespace
}  // namespace ridgeline::gpu
