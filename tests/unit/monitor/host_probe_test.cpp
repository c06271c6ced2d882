// SPDX-License-Identifier: Apache-2.0
#include "monitor/host_probe.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace ridgeline::monitor {
namespace {

class HostProbeTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / fmt::format("rl_host_{}", ::getpid());
  HostProbe probe_{host::SystemFiles(folder_)};
};

TEST_F(HostProbeTest, reads_cpu_memory_and_limits) {
  write("proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3 4\ncpu1 1 2 3 4\nintr 9\ncpu9 1\n");
  write("proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\n");
  write("proc/loadavg", "1.25 2 3 4/5 6\n");
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "512000\n");
  write("sys/fs/cgroup/memory.current", "128000\n");
  write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  const auto first = probe_.read();
  EXPECT_FALSE(first.cpu_percent);
  EXPECT_EQ(first.cpus, 2);
  EXPECT_EQ(first.memory_total_bytes, 1'024'000);
  EXPECT_EQ(first.memory_used_bytes, 750 * 1024);
  EXPECT_EQ(first.load_1m, 1.25);
  EXPECT_EQ(first.cgroup_memory_limit_bytes, 512'000);
  EXPECT_EQ(first.cgroup_memory_used_bytes, 128'000);
  EXPECT_EQ(first.cgroup_cpus, 1.5);

  write("proc/stat", "cpu  120 0 110 750 120 0 0 0 0 0\n");  // 30 busy of 100
  EXPECT_NEAR(probe_.read().cpu_percent.value(), 30, 1e-9);
}

TEST_F(HostProbeTest, knows_no_limit_where_there_is_none) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "max\n");
  write("sys/fs/cgroup/cpu.max", "max 100000\n");
  const auto host = probe_.read();
  EXPECT_FALSE(host.cgroup_memory_limit_bytes || host.cgroup_cpus || host.memory_total_bytes || host.load_1m);
  EXPECT_EQ(host.cpus, 0);
}

}  // namespace
}  // namespace ridgeline::monitor
