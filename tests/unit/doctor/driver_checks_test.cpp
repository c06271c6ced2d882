// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks/checks.hpp"
#include "healthy_facts.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

Check driver_of(const Facts& facts, const std::string& id = "driver.nvml") {
  return find_check(check_driver(facts), id);
}

/// A driver whose library opens but does not start.
Facts broken(const std::string& error) {
  auto facts = cpu_facts();
  facts.driver.nvml_path = "/usr/lib/libnvidia-ml.so.1";
  facts.driver.nvml_error = error;
  return facts;
}

TEST(DriverChecks, a_healthy_driver_is_ok_with_versions_and_path) {
  const auto check = driver_of(healthy_facts());
  EXPECT_EQ(check.status, CheckStatus::ok);
  EXPECT_TRUE(contains(text_of(check.evidence), "580.65.06"));
  EXPECT_TRUE(contains(text_of(check.evidence), "CUDA 13.0"));
  EXPECT_TRUE(contains(text_of(check.evidence), "/usr/lib/libnvidia-ml.so.1"));
}

TEST(DriverChecks, no_gpu_at_all_is_no_fault_and_says_what_was_tried) {
  const auto checks = check_driver(cpu_facts());
  for (const auto& check : checks) EXPECT_EQ(check.status, CheckStatus::skipped) << check.id;
  EXPECT_TRUE(contains(text_of(find_check(checks, "driver.nvml").evidence), "libnvidia-ml.so.1"));
}

TEST(DriverChecks, a_card_without_a_driver_is_a_warning_that_depends_on_where_we_are) {
  auto facts = cpu_facts();
  facts.driver.pci_gpus = {"0000:0f:00.0"};
  EXPECT_EQ(driver_of(facts).status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(driver_of(facts).fix), "install the NVIDIA driver"));
  facts.driver.container = true;
  EXPECT_TRUE(contains(text_of(driver_of(facts).fix), "--gpus all"));
}

TEST(DriverChecks, a_kernel_module_without_its_library_fails) {
  auto facts = cpu_facts();
  facts.driver.kernel_module = "580.65.06";
  EXPECT_EQ(driver_of(facts).status, CheckStatus::fail);
  facts.driver.container = true;
  EXPECT_TRUE(contains(text_of(driver_of(facts).fix), "NVIDIA_DRIVER_CAPABILITIES"));
}

TEST(DriverChecks, a_library_that_does_not_start_fails_with_the_fix_for_its_cause) {
  const auto fix = [](const std::string& error, std::int64_t status = 0) {
    auto facts = broken(error);
    facts.driver.nvml_status = status;
    const auto check = driver_of(facts);
    EXPECT_EQ(check.status, CheckStatus::fail) << error;
    return text_of(check.fix);
  };
  EXPECT_TRUE(contains(fix("starting x: Driver/library version mismatch (NVML 18)"), "reboot"));
  EXPECT_TRUE(contains(fix("starting x: Driver Not Loaded (NVML 9)"), "kernel module"));
  EXPECT_TRUE(contains(fix("starting x: Insufficient Permissions (NVML 4)"), "group"));
  EXPECT_TRUE(contains(fix("starting x: failed (NVML 9)", 9), "kernel module"));
  EXPECT_TRUE(contains(fix("starting x: failed (NVML 4)", 4), "group"));
  EXPECT_TRUE(contains(fix("starting x: Unknown Error (NVML 999)", 999), "Xid"));
  auto container = broken("starting x: Unknown Error (NVML 999)");
  container.driver.container = true;
  EXPECT_TRUE(contains(text_of(driver_of(container).fix), "container"));
}

TEST(DriverChecks, a_damaged_library_is_told_from_an_absent_one) {
  auto facts = cpu_facts();
  facts.driver.nvml_broken_file = true;
  facts.driver.nvml_error = "/usr/lib/libnvidia-ml.so.1: file too short";
  EXPECT_EQ(driver_of(facts).status, CheckStatus::fail);
  EXPECT_TRUE(contains(text_of(driver_of(facts).evidence), "is damaged"));
}

TEST(DriverChecks, library_and_kernel_module_of_two_versions_fail) {
  auto facts = healthy_facts();
  facts.driver.kernel_module = "570.10";
  EXPECT_EQ(driver_of(facts).status, CheckStatus::fail);
  EXPECT_TRUE(contains(text_of(driver_of(facts).evidence), "570.10"));
}

TEST(DriverChecks, closed_device_files_and_lost_gpus_fail) {
  auto closed = healthy_facts();
  closed.driver.closed_nodes = {"/dev/nvidia0"};
  EXPECT_EQ(driver_of(closed).status, CheckStatus::fail);
  EXPECT_TRUE(contains(text_of(driver_of(closed).evidence), "/dev/nvidia0"));
  auto lost = healthy_facts();
  lost.driver.inventory_note = schema::messages::gpu_not_opened("opening GPU 1: GPU is lost (NVML 15)");
  EXPECT_EQ(driver_of(lost).status, CheckStatus::fail);
  EXPECT_TRUE(contains(text_of(driver_of(lost).evidence), "GPU is lost"));
}

TEST(DriverChecks, a_driver_without_a_gpu_warns_unless_the_card_is_there) {
  auto facts = healthy_facts();
  facts.driver.gpus = 0;
  facts.driver.pci_gpus.clear();
  EXPECT_EQ(driver_of(facts).status, CheckStatus::warn);
  facts.driver.pci_gpus = {"0000:0f:00.0"};
  EXPECT_EQ(driver_of(facts).status, CheckStatus::fail);
}

TEST(DriverChecks, cuda_of_driver_and_provider_are_held_against_each_other) {
  auto facts = healthy_facts();
  EXPECT_EQ(driver_of(facts, "driver.cuda").status, CheckStatus::ok);
  facts.driver.cuda_version = "12.8";
  const auto old = driver_of(facts, "driver.cuda");
  EXPECT_EQ(old.status, CheckStatus::fail);
  EXPECT_TRUE(contains(text_of(old.fix), "580"));
  facts.driver.cuda_version = "";
  EXPECT_EQ(driver_of(facts, "driver.cuda").status, CheckStatus::warn);
  facts.runtime.cuda_major.reset();
  EXPECT_EQ(driver_of(facts, "driver.cuda").status, CheckStatus::skipped);
}

TEST(DriverChecks, missing_functions_are_named) {
  auto facts = healthy_facts();
  EXPECT_EQ(driver_of(facts, "driver.readings").status, CheckStatus::ok);
  facts.driver.missing_functions = {"nvmlDeviceGetRemappedRows"};
  EXPECT_EQ(driver_of(facts, "driver.readings").status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(driver_of(facts, "driver.readings").evidence), "nvmlDeviceGetRemappedRows"));
}

TEST(DriverChecks, cuda_visible_devices_may_hide_some_but_not_all) {
  auto facts = healthy_facts();
  facts.driver.visible_devices = "0";
  EXPECT_EQ(driver_of(facts, "driver.visible").status, CheckStatus::ok);
  facts.driver.visible_devices = "7";
  facts.driver.visible_gpus = 0;
  EXPECT_EQ(driver_of(facts, "driver.visible").status, CheckStatus::fail);
  EXPECT_EQ(driver_of(facts, "driver.visible").commands.front(), "unset CUDA_VISIBLE_DEVICES");
  facts.driver.visible_devices = "MIG-1234";  // only CUDA can tell
  EXPECT_EQ(driver_of(facts, "driver.visible").status, CheckStatus::ok);
}

TEST(DriverChecks, cuda_visible_devices_with_entries_that_are_not_there_is_a_warning) {
  auto facts = healthy_facts();
  facts.driver.gpus = 8;
  facts.driver.visible_devices = "1, 9,2,GPU-x";
  facts.driver.visible_gpus = 1;
  facts.driver.absent_devices = {"9", "GPU-x"};
  auto check = driver_of(facts, "driver.visible");
  EXPECT_EQ(check.status, CheckStatus::warn);
  EXPECT_TRUE(contains(text_of(check.evidence), "leaves 1 of 8: there is no 9, GPU-x")) << text_of(check.evidence);
  EXPECT_EQ(check.commands.back(), "export CUDA_VISIBLE_DEVICES=1,2");
  facts.driver.visible_devices = "9,1";
  facts.driver.visible_gpus = 0;
  facts.driver.absent_devices = {"9"};
  check = driver_of(facts, "driver.visible");
  EXPECT_EQ(check.status, CheckStatus::fail);
  EXPECT_TRUE(contains(text_of(check.evidence), "leaves 0 of 8: there is no 9")) << text_of(check.evidence);
}

TEST(DriverChecks, counters_for_administrators_only_are_a_warning_for_others) {
  auto facts = healthy_facts();
  EXPECT_EQ(driver_of(facts, "driver.counters").status, CheckStatus::ok);
  facts.driver.counters_admin_only = true;
  EXPECT_EQ(driver_of(facts, "driver.counters").status, CheckStatus::warn);
  facts.driver.privileged = true;
  EXPECT_EQ(driver_of(facts, "driver.counters").status, CheckStatus::ok);
  facts.driver.privileged = false;
  facts.driver.counters_admin_only.reset();
  EXPECT_EQ(driver_of(facts, "driver.counters").status, CheckStatus::skipped);
}

}  // namespace
}  // namespace ridgeline::doctor
