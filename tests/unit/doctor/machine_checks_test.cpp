// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/checks.hpp"
#include "healthy_facts.hpp"

namespace ridgeline::doctor {
namespace {

class MachineChecks : public ::testing::Test {
 protected:
  Facts facts = healthy_facts();
  MachineFacts& machine = facts.machine;
  Check see(const std::string& id) const { return find_check(check_machine(facts), "machine." + id); }
};

TEST_F(MachineChecks, a_good_machine_is_ok_in_every_line) {
  for (const auto& check : check_machine(facts))
    EXPECT_EQ(check.status, CheckStatus::ok) << check.id << ": " << text_of(check.evidence);
}

TEST_F(MachineChecks, what_cannot_be_read_is_skipped) {
  facts.machine = {};
  for (const auto& check : check_machine(facts))
    if (check.id != "machine.cpu") {
      EXPECT_EQ(check.status, CheckStatus::skipped) << check.id;
    }
}

TEST_F(MachineChecks, a_quota_below_the_cpus_in_sight_is_a_warning) {
  machine.environment.cgroup_cpu_quota = 2;
  EXPECT_EQ(see("cpu").status, CheckStatus::warn);
  EXPECT_TRUE(contains(see("cpu").commands.front(), "--cpuset-cpus 0-1"));
  machine.environment.cgroup_cpu_quota = 0.5;
  EXPECT_TRUE(contains(text_of(see("cpu").fix), "less than one CPU"));
  machine.environment.cgroup_cpu_quota = 4;
  EXPECT_EQ(see("cpu").status, CheckStatus::ok);
}

TEST_F(MachineChecks, a_saving_governor_is_a_warning) {
  machine.environment.governor = "powersave";
  EXPECT_EQ(see("governor").status, CheckStatus::warn);
  machine.environment.governor = "schedutil";
  EXPECT_EQ(see("governor").status, CheckStatus::ok);
}

TEST_F(MachineChecks, little_memory_is_a_warning) {
  machine.environment.memory_available_bytes = 1LL << 30;
  EXPECT_EQ(see("memory").status, CheckStatus::warn);
}

TEST_F(MachineChecks, dockers_shared_memory_is_too_small) {
  machine.shm_bytes = 64LL << 20;
  machine.container = true;
  EXPECT_EQ(see("shm").status, CheckStatus::warn);
  EXPECT_TRUE(contains(see("shm").commands.front(), "--shm-size"));
  machine.container = false;
  EXPECT_TRUE(contains(see("shm").commands.front(), "mount"));
}

TEST_F(MachineChecks, few_open_files_are_a_warning_and_no_limit_is_fine) {
  machine.open_files_soft = 256;
  EXPECT_EQ(see("open_files").status, CheckStatus::warn);
  machine.open_files_soft = -1;
  EXPECT_EQ(see("open_files").status, CheckStatus::ok);
}

TEST_F(MachineChecks, disk_space_warns_then_fails_for_the_fullest_place) {
  machine.disks.push_back({messages::folder_temporary(), "/tmp", 2LL << 30, "tmpfs", "", std::nullopt, true});
  EXPECT_EQ(see("disk").status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(see("disk").evidence), "/tmp (temporary files)"));
  machine.disks.back().free_bytes = 1 << 20;
  EXPECT_EQ(see("disk").status, CheckStatus::fail);
  machine.disks.back().writable = false;
  EXPECT_TRUE(contains(text_of(see("disk").evidence), "cannot be written"));
}

TEST_F(MachineChecks, storage_is_classed_by_device_and_file_system) {
  EXPECT_TRUE(contains(text_of(see("storage").evidence), "NVMe"));
  machine.disks.front().device = "sda";
  EXPECT_TRUE(contains(text_of(see("storage").evidence), "SSD"));
  machine.disks.front().rotational = true;
  EXPECT_EQ(see("storage").status, CheckStatus::warn);
  machine.disks.front().device = "vda";
  EXPECT_TRUE(contains(text_of(see("storage").evidence), "virtual disk"));
  machine.disks.front().file_system = "nfs";
  EXPECT_EQ(see("storage").status, CheckStatus::warn);
  machine.disks.front() = {messages::folder_current(), "/", 100LL << 30, "overlay", "", std::nullopt, true};
  EXPECT_EQ(see("storage").status, CheckStatus::skipped);
}

}  // namespace
}  // namespace ridgeline::doctor
