// SPDX-License-Identifier: Apache-2.0
#include "host/environment_probe.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace ridgeline::host {
namespace {

schema::Environment probe(const std::string& fixture) {
  return probe_environment(std::filesystem::path(RL_TEST_DATA) / "roots" / fixture);
}

std::vector<int> first_cpus(int count) {
  std::vector<int> cpus(static_cast<std::size_t>(count));
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

TEST(EnvironmentProbe, reads_a_desktop_with_eight_cores_and_sixteen_threads) {
  const auto found = probe("desktop");
  EXPECT_EQ(found.cpu_model, "Intel(R) Core(TM) i7-10700 CPU @ 2.90GHz");
  EXPECT_EQ(found.logical_cpus, 16);
  EXPECT_EQ(found.physical_cores, 8);
  EXPECT_DOUBLE_EQ(found.usable_cpus, 16);
  EXPECT_EQ(found.affinity, first_cpus(16));
  EXPECT_EQ(found.core_siblings.size(), 8U);
  EXPECT_EQ(found.core_siblings.at(3), (std::vector{3, 11}));
  EXPECT_EQ(found.cgroup_cpu_quota, std::nullopt);
  EXPECT_EQ(found.smt, true);
  EXPECT_EQ(found.governor, "powersave");
  EXPECT_EQ(found.isa, (std::vector<std::string>{"sse4_2", "avx", "f16c", "fma", "avx2"}));
  EXPECT_EQ(found.numa_nodes, 1);
  EXPECT_EQ(found.memory_bytes, std::int64_t{32768000} * 1024);
  EXPECT_EQ(found.memory_available_bytes, std::int64_t{24000000} * 1024);
  EXPECT_EQ(found.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(found.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(found.hostname, "desk");
  EXPECT_EQ(found.load_average, 0.42);
  EXPECT_FALSE(found.ridgeline_version.empty());
  ASSERT_EQ(found.gpus.size(), 1U);
  EXPECT_EQ(found.gpus[0].name, "NVIDIA GeForce RTX 3080");
  EXPECT_EQ(found.gpus[0].uuid, "GPU-12345678-aaaa-bbbb-cccc-1234567890ab");
  EXPECT_EQ(found.gpus[0].driver_version, "535.154.05");
  EXPECT_TRUE(found.gpu_note.empty());
}

TEST(EnvironmentProbe, takes_the_tightest_limit_of_nested_version_2_cgroups) {
  const auto found = probe("container_v2");
  EXPECT_EQ(found.cgroup_cpu_quota, 1.5);
  EXPECT_DOUBLE_EQ(found.usable_cpus, 1.5);
  EXPECT_EQ(found.affinity, first_cpus(4));
  EXPECT_EQ(found.logical_cpus, 8);
  EXPECT_EQ(found.physical_cores, 4);
  EXPECT_EQ(found.smt, true);  // from /proc/cpuinfo: 4 cores for 8 CPUs
  EXPECT_EQ(found.memory_bytes, std::int64_t{2} << 30);
  EXPECT_EQ(found.memory_available_bytes, (std::int64_t{3} << 30) / 2);  // 2 GiB less 1 GiB used, of it half is cache
  EXPECT_EQ(found.os, "Alpine Linux v3.19");
  EXPECT_EQ(found.governor, std::nullopt);
  EXPECT_TRUE(found.gpus.empty());
  EXPECT_FALSE(found.gpu_note.empty());
}

TEST(EnvironmentProbe, finds_version_1_limits_where_the_hosts_path_is_not_mounted) {
  const auto found = probe("container_v1");
  EXPECT_EQ(found.cgroup_cpu_quota, 2.5);
  EXPECT_DOUBLE_EQ(found.usable_cpus, 2.5);
  EXPECT_EQ(found.physical_cores, 4);
  EXPECT_EQ(found.smt, false);
  EXPECT_EQ(found.memory_bytes, std::int64_t{1} << 30);
  EXPECT_EQ(found.memory_available_bytes, std::int64_t{1} << 29);
}

TEST(EnvironmentProbe, counts_cores_of_two_packages_apart_and_ignores_absent_cpus) {
  const auto found = probe("numa");
  EXPECT_EQ(found.numa_nodes, 2);
  EXPECT_EQ(found.logical_cpus, 8);
  EXPECT_EQ(found.physical_cores, 8);
  EXPECT_EQ(found.affinity, first_cpus(8));  // the kernel allows 0-127
  // Node 0 holds the even CPUs, node 1 the odd ones.
  EXPECT_EQ(found.core_siblings, (std::vector<std::vector<int>>{{0}, {2}, {4}, {6}, {1}, {3}, {5}, {7}}));
  EXPECT_EQ(found.smt, false);
  EXPECT_EQ(found.cgroup_cpu_quota, std::nullopt);
  EXPECT_EQ(found.memory_bytes, std::int64_t{131072000} * 1024);
}

TEST(EnvironmentProbe, does_without_sysfs) {
  const auto found = probe("no_sysfs");
  EXPECT_EQ(found.cpu_model, "Arm implementer 0x41 part 0xd40");
  EXPECT_EQ(found.logical_cpus, 2);
  EXPECT_DOUBLE_EQ(found.usable_cpus, 2);
  EXPECT_EQ(found.physical_cores, 2);
  EXPECT_TRUE(found.core_siblings.empty());
  EXPECT_EQ(found.smt, std::nullopt);
  EXPECT_EQ(found.isa, (std::vector<std::string>{"asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve"}));
  EXPECT_EQ(found.numa_nodes, 1);
  EXPECT_EQ(found.memory_bytes, 0);
  EXPECT_EQ(found.load_average, std::nullopt);
}

TEST(EnvironmentProbe, leaves_empty_what_is_malformed_or_absent) {
  for (const auto* fixture : {"rubbish", "no such folder"}) {
    const auto found = probe(fixture);
    EXPECT_EQ(found.cpu_model, "") << fixture;
    EXPECT_EQ(found.logical_cpus, 0) << fixture;
    EXPECT_DOUBLE_EQ(found.usable_cpus, 0) << fixture;
    EXPECT_EQ(found.cgroup_cpu_quota, std::nullopt) << fixture;
    EXPECT_EQ(found.memory_bytes, 0) << fixture;
    EXPECT_EQ(found.load_average, std::nullopt) << fixture;
    EXPECT_EQ(found.smt, std::nullopt) << fixture;
  }
}

TEST(EnvironmentProbe, sees_this_machine) {
  const auto found = probe_environment();
  EXPECT_GE(found.logical_cpus, 1);
  EXPECT_GT(found.usable_cpus, 0);
  EXPECT_LE(found.usable_cpus, found.logical_cpus);
  EXPECT_GE(found.physical_cores, 1);
  EXPECT_LE(found.physical_cores, found.logical_cpus);
  EXPECT_GT(found.memory_bytes, 0);
  EXPECT_FALSE(found.kernel.empty());
}

}  // namespace
}  // namespace ridgeline::host
