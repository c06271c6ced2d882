// SPDX-License-Identifier: Apache-2.0
#include "monitor/sleeping_gpus.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

#include "fakes/fake_sysfs.hpp"

namespace ridgeline::monitor {
namespace {

TEST(SleepingGpus, lists_nvidia_display_devices_in_order) {
  fakes::FakeSysfs sysfs;
  sysfs.add("0000:41:00.0", "0x10de", "0x030200", "suspended");
  sysfs.add("0000:01:00.0", "0x10de", "0x030000", "active");
  sysfs.add("0000:01:00.1", "0x10de", "0x040300", "suspended");  // its sound device
  sysfs.add("0000:02:00.0", "0x8086", "0x030000", "suspended");
  const auto gpus = list_pci_gpus(sysfs.path());
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].address, "0000:01:00.0");
  EXPECT_FALSE(gpus[0].asleep);
  EXPECT_EQ(gpus[1].address, "0000:41:00.0");
  EXPECT_TRUE(gpus[1].asleep);
  EXPECT_FALSE(is_asleep(sysfs.path(), "0000:99:00.0"));
  EXPECT_TRUE(list_pci_gpus("/nowhere").empty());
}

TEST(SleepingGpus, writes_addresses_as_the_kernel_does) {
  EXPECT_EQ(kernel_address("00000000:1B:00.0"), "0000:1b:00.0");
  EXPECT_EQ(kernel_address("00010000:1B:00.0"), "0000:1b:00.0");
  EXPECT_EQ(kernel_address("0000:1b:00.0"), "0000:1b:00.0");
  EXPECT_EQ(kernel_address(""), "");
}

}  // namespace
}  // namespace ridgeline::monitor
