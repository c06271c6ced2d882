// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/checks.hpp"
#include "healthy_facts.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

class GpuChecks : public ::testing::Test {
 protected:
  Facts facts = healthy_facts();
  GpuFacts& gpu = facts.gpus.front();

  Check see(const std::string& id) const {
    auto checks = check_gpus(facts);
    for (auto& check : check_gpu_load(facts)) checks.push_back(check);
    return find_check(checks, "gpu." + id);
  }
};

TEST_F(GpuChecks, a_healthy_gpu_is_ok_in_every_line) {
  for (const auto& check : check_gpus(facts))
    EXPECT_EQ(check.status, CheckStatus::ok) << check.id << ": " << text_of(check.evidence);
  for (const auto& check : check_gpu_load(facts))
    EXPECT_EQ(check.status, CheckStatus::ok) << check.id << ": " << text_of(check.evidence);
  EXPECT_TRUE(contains(text_of(see("list").evidence), "NVIDIA H200 (Hopper 9.0"));
}

TEST_F(GpuChecks, without_a_gpu_everything_is_skipped) {
  facts = cpu_facts();
  for (const auto& check : check_gpus(facts)) EXPECT_EQ(check.status, CheckStatus::skipped) << check.id;
}

TEST_F(GpuChecks, what_cannot_be_read_is_skipped_and_never_a_verdict) {
  GpuFacts bare;
  bare.gpu.name = "NVIDIA";
  facts.gpus = {bare};
  for (const auto& check : check_gpus(facts))
    if (check.id != "gpu.list") {
      EXPECT_EQ(check.status, CheckStatus::skipped) << check.id << ": " << text_of(check.evidence);
    }
  for (const auto& check : check_gpu_load(facts)) EXPECT_EQ(check.status, CheckStatus::skipped) << check.id;
}

TEST_F(GpuChecks, what_a_gpu_does_not_have_differs_from_what_cannot_be_read) {
  gpu.gpu.ecc.reset();
  gpu.nvlinks.reset();
  EXPECT_EQ(text_of(see("ecc").evidence), "cannot be read");
  EXPECT_EQ(text_of(see("nvlink").evidence), "cannot be read");
  gpu.without_ecc = gpu.without_nvlink = true;
  EXPECT_EQ(text_of(see("ecc").evidence), "this GPU has no ECC");
  EXPECT_EQ(text_of(see("nvlink").evidence), "no NVLink");
}

TEST_F(GpuChecks, every_lost_gpu_is_named_with_its_reset) {
  facts.gpus = {healthy_gpu(0), healthy_gpu(1), healthy_gpu(2)};
  facts.gpus[0].error = facts.gpus[2].error = "GPU is lost";
  EXPECT_EQ(see("list").status, CheckStatus::fail);
  EXPECT_EQ(text_of(see("list").evidence), "GPU 0 does not answer: GPU is lost; GPU 2 does not answer: GPU is lost");
  EXPECT_EQ(see("list").commands.back(), "sudo nvidia-smi --gpu-reset -i 2");
  facts.gpus[2].error.clear();
  facts.gpus[0].answered_before = true;
  EXPECT_EQ(text_of(see("list").evidence), "GPU 0 does not answer: GPU is lost; it did when doctor began");
}

TEST_F(GpuChecks, a_command_for_several_gpus_is_told_once) {
  facts.gpus = {healthy_gpu(0), healthy_gpu(1)};
  for (auto& one : facts.gpus) one.gpu.memory_free_bytes = 100'000'000'000 - 1'000'000'000LL * *one.gpu.index;
  EXPECT_EQ(see("processes").status, CheckStatus::warn);
  EXPECT_EQ(see("processes").commands, std::vector<std::string>{"sudo fuser -v /dev/nvidia*"});
}

TEST_F(GpuChecks, a_card_older_than_the_providers_cuda_fails) {
  gpu.gpu.compute_capability = "7.0";
  EXPECT_EQ(see("list").status, CheckStatus::fail);
  facts.runtime.cuda_major = 12;
  EXPECT_EQ(see("list").status, CheckStatus::ok);
}

TEST_F(GpuChecks, uncorrected_errors_fail_now_and_warn_when_they_are_history) {
  gpu.ecc.uncorrected_ever = 3;
  EXPECT_EQ(see("ecc").status, CheckStatus::warn);
  gpu.ecc.uncorrected_since_boot = 1;
  EXPECT_EQ(see("ecc").status, CheckStatus::fail);
  gpu.gpu.ecc = false;
  EXPECT_EQ(see("ecc").status, CheckStatus::ok);
}

TEST_F(GpuChecks, remapped_rows_warn_when_a_reset_is_due_and_fail_without_spare_rows) {
  gpu.remapped_rows->uncorrectable = 1;
  EXPECT_EQ(see("remapped_rows").status, CheckStatus::ok);
  gpu.remapped_rows->pending = true;
  EXPECT_EQ(see("remapped_rows").status, CheckStatus::warn);
  gpu.remapped_rows->failed = true;
  EXPECT_EQ(see("remapped_rows").status, CheckStatus::fail);
}

TEST_F(GpuChecks, persistence_off_is_a_warning_with_the_command) {
  gpu.gpu.persistence = false;
  EXPECT_EQ(see("persistence").status, CheckStatus::warn);
  EXPECT_TRUE(contains(see("persistence").commands.front(), "nvidia-persistenced"));
}

TEST_F(GpuChecks, mig_without_an_instance_and_prohibited_compute_fail) {
  gpu.gpu.mig = true;
  gpu.mig_instances = 0;
  EXPECT_EQ(see("sharing").status, CheckStatus::fail);
  gpu.mig_instances = 2;
  EXPECT_EQ(see("sharing").status, CheckStatus::ok);
  gpu.gpu.mig = false;
  gpu.compute_mode = "exclusive_process";
  EXPECT_EQ(see("sharing").status, CheckStatus::warn);
  gpu.compute_mode = "prohibited";
  EXPECT_EQ(see("sharing").status, CheckStatus::fail);
}

TEST_F(GpuChecks, a_lowered_power_limit_is_named_with_its_default) {
  gpu.gpu.power_limit_w = 400;
  EXPECT_EQ(see("power_limit").status, CheckStatus::warn);
  EXPECT_EQ(see("power_limit").commands.front(), "sudo nvidia-smi -i 0 -pl 700");
}

TEST_F(GpuChecks, a_power_cap_is_normal_but_heat_is_not) {
  gpu.clock_reasons = 0x4;
  EXPECT_EQ(see("throttle").status, CheckStatus::ok);
  gpu.clock_reasons = 0x4 | 0x20;
  EXPECT_EQ(see("throttle").status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(see("throttle").fix), "cooling"));
  gpu.clock_reasons = 0x80;
  EXPECT_TRUE(contains(text_of(see("throttle").fix), "power supply"));
}

TEST_F(GpuChecks, full_memory_and_memory_of_nobody_are_warnings) {
  gpu.processes = std::vector<GpuProcess>{{4711, "python3", 20'000'000'000}};
  gpu.gpu.memory_free_bytes = 130'000'000'000;
  EXPECT_EQ(see("processes").status, CheckStatus::ok);
  EXPECT_TRUE(contains(text_of(see("processes").evidence), "python3 4711"));
  gpu.gpu.memory_free_bytes = 5'000'000'000;
  EXPECT_EQ(see("processes").status, CheckStatus::warn);
  gpu.gpu.memory_free_bytes = 100'000'000'000;
  gpu.processes->clear();
  EXPECT_EQ(see("processes").status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(see("processes").evidence), "no process is listed"));
}

TEST_F(GpuChecks, memory_of_nobody_shows_beside_processes_that_are_listed) {
  gpu.processes = std::vector<GpuProcess>{{4711, "python3", 10'000'000'000}, {4712, "bash", 10'000'000'000}};
  gpu.gpu.memory_free_bytes = 128'000'000'000;  // 22 GB in use: the reserve is no warning
  EXPECT_EQ(see("processes").status, CheckStatus::ok);
  gpu.gpu.memory_free_bytes = 100'000'000'000;
  EXPECT_EQ(see("processes").status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(see("processes").evidence), "bash 4712")) << text_of(see("processes").evidence);
  EXPECT_TRUE(contains(text_of(see("processes").evidence), "27.9 GiB by no listed process"))
      << text_of(see("processes").evidence);
  gpu.gpu.memory_free_bytes = 5'000'000'000;  // full, and so the more of interest
  EXPECT_TRUE(contains(text_of(see("processes").evidence), "by no listed process"));
  EXPECT_TRUE(contains(text_of(see("processes").fix), "little memory"));
  gpu.gpu.memory_free_bytes = 100'000'000'000;
  gpu.processes->push_back({4713, "", std::nullopt});  // may hold all of it
  EXPECT_EQ(see("processes").status, CheckStatus::ok);
  gpu.processes->pop_back();
  gpu.gpu.mig = true;
  EXPECT_EQ(see("processes").status, CheckStatus::ok);
}

TEST_F(GpuChecks, a_link_that_is_down_beside_others_is_a_warning) {
  gpu.nvlinks = gpu::NvlinkLinks{17, 18};
  EXPECT_EQ(see("nvlink").status, CheckStatus::warn);
  gpu.nvlinks = gpu::NvlinkLinks{0, 4};
  EXPECT_EQ(see("nvlink").status, CheckStatus::skipped);
}

TEST_F(GpuChecks, a_process_bound_to_the_far_node_is_a_warning) {
  gpu.numa_node = 1;
  gpu.near_cpus = {64, 65};
  EXPECT_EQ(see("numa").status, CheckStatus::warn);
  EXPECT_TRUE(contains(see("numa").commands.front(), "--cpunodebind=1"));
}

TEST_F(GpuChecks, a_narrow_an_old_and_a_slow_link_are_told_apart) {
  gpu.load->pcie_width = 8;
  EXPECT_EQ(see("pcie").status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(see("pcie").evidence), "x16 is possible"));
  gpu.load->pcie_width = 1;
  EXPECT_TRUE(contains(text_of(see("pcie").evidence), "copies take 16 times as long")) << text_of(see("pcie").evidence);
  gpu.load->pcie_width = 16;
  gpu.load->pcie_generation = 3;
  EXPECT_TRUE(contains(text_of(see("pcie").evidence), "generation 5 is possible"));
  gpu.load->pcie_generation = 5;
  gpu.load->reached.h2d_gb_per_s = 12;
  EXPECT_EQ(see("pcie").status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(see("pcie").evidence), "of 63 possible"));
}

TEST_F(GpuChecks, clocks_under_load_warn_below_nine_tenths_with_the_reason) {
  gpu.load->sm_clock_mhz = 1800;
  EXPECT_EQ(see("clocks").status, CheckStatus::ok);
  gpu.load->sm_clock_mhz = 1200;
  EXPECT_TRUE(contains(text_of(see("clocks").fix), "locked"));
  gpu.load->clock_reasons = 0x4;
  EXPECT_TRUE(contains(text_of(see("clocks").fix), "Power limit"));
  gpu.load->clock_reasons = 0x40;
  EXPECT_EQ(see("clocks").status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(see("clocks").fix), "too hot"));
}

TEST_F(GpuChecks, a_load_that_could_not_be_made_is_no_verdict) {
  gpu.load->error = messages::file_missing("libcuda.so.1");
  EXPECT_EQ(see("pcie").status, CheckStatus::skipped);
  EXPECT_TRUE(contains(text_of(see("clocks").evidence), "libcuda.so.1"));
}

TEST_F(GpuChecks, gpus_that_are_skipped_for_different_reasons_are_told_with_both) {
  facts.gpus = {healthy_gpu(0), healthy_gpu(1)};
  facts.gpus[0].load->error = messages::hidden();
  facts.gpus[1].load->error = schema::messages::foreign("no CUDA");
  EXPECT_EQ(see("clocks").status, CheckStatus::skipped);
  EXPECT_TRUE(contains(text_of(see("clocks").evidence), "hidden")) << text_of(see("clocks").evidence);
  EXPECT_TRUE(contains(text_of(see("clocks").evidence), "no CUDA")) << text_of(see("clocks").evidence);
}

TEST_F(GpuChecks, gpus_that_agree_share_a_line_and_the_odd_one_is_named) {
  facts.gpus.clear();
  for (int i = 0; i < 8; ++i) facts.gpus.push_back(healthy_gpu(i));
  EXPECT_EQ(text_of(see("ecc").evidence).rfind("all 8: ", 0), 0U) << text_of(see("ecc").evidence);
  EXPECT_EQ(text_of(see("list").evidence).rfind("8 x NVIDIA H200", 0), 0U) << text_of(see("list").evidence);
  facts.gpus[5].ecc.uncorrected_since_boot = 2;
  const auto check = see("ecc");
  EXPECT_EQ(check.status, CheckStatus::fail);
  EXPECT_EQ(text_of(check.evidence).rfind("GPU 5: 2 uncorrected", 0), 0U) << text_of(check.evidence);
  EXPECT_FALSE(contains(text_of(check.evidence), "GPU 0"));
  facts.gpus[2].gpu.persistence = facts.gpus[3].gpu.persistence = false;
  EXPECT_EQ(text_of(see("persistence").evidence).rfind("GPU 2, 3: off", 0), 0U) << text_of(see("persistence").evidence);
}

}  // namespace
}  // namespace ridgeline::doctor
