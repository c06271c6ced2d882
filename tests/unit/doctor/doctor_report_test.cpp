// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_report.hpp"

#include <set>

#include "doctor/checks/checks.hpp"
#include "fakes/words.hpp"
#include "healthy_facts.hpp"
#include "schema/messages.hpp"

namespace ridgeline::doctor {
namespace {

DoctorReport report_of(const Facts& facts) {
  DoctorReport report;
  report.checks = judge(facts);
  return report;
}

TEST(DoctorReport, a_healthy_gpu_machine_and_a_cpu_machine_exit_with_0) {
  EXPECT_EQ(report_of(healthy_facts()).exit_code(), 0);
  EXPECT_EQ(report_of(cpu_facts()).exit_code(), 0);
}

TEST(DoctorReport, warnings_exit_with_1_and_failures_with_2) {
  auto facts = healthy_facts();
  facts.gpus.front().gpu.persistence = false;
  EXPECT_EQ(report_of(facts).exit_code(), 1);
  facts.gpus.front().ecc.uncorrected_since_boot = 1;
  EXPECT_EQ(report_of(facts).exit_code(), 3);
}

TEST(DoctorReport, ids_are_unique_and_titles_fit_their_column) {
  auto facts = healthy_facts();
  facts.model.emplace().error.message = "x";
  std::set<std::string> ids;
  for (const auto& check : judge(facts)) {
    EXPECT_TRUE(ids.insert(check.id).second) << check.id;
    EXPECT_LE(text_of(check.title).size(), 18U) << text_of(check.title);
    EXPECT_EQ(check.id.rfind(std::string(base::enum_name(check.group)) + ".", 0), 0U) << check.id;
    EXPECT_EQ(text_of(check.evidence).find('\n'), std::string::npos) << check.id;
  }
}

TEST(DoctorReport, whatever_is_wrong_comes_with_a_fix) {
  auto facts = healthy_facts();
  facts.driver.inventory_note = schema::messages::gpu_not_opened("opening GPU 1: GPU is lost");
  facts.gpus.front().gpu.persistence = false;
  facts.machine.shm_bytes = 1 << 20;
  facts.smoke.back().status = schema::TrialStatus::crashed;
  for (const auto& check : judge(facts))
    if (check.status == CheckStatus::warn || check.status == CheckStatus::fail) {
      EXPECT_FALSE(check.fix.empty()) << check.id;
    }
}

TEST(DoctorReport, json_has_the_verdict_the_counts_and_every_check) {
  const auto report = report_of(cpu_facts());
  const auto json = schema::with_words(fakes::words(), report);
  EXPECT_EQ(json.at("schema_version"), 3);
  EXPECT_EQ(json.at("status"), "ok");
  EXPECT_EQ(json.at("exit_code"), 0);
  EXPECT_EQ(json.at("checks").size(), report.checks.size());
  EXPECT_EQ(json.at("counts").at("fail"), 0);
  EXPECT_EQ(json.at("counts").at("skipped").get<std::size_t>(), report.count(CheckStatus::skipped));
  EXPECT_EQ(json.at("checks").at(0).at("id"), "driver.nvml");
  EXPECT_EQ(json.at("checks").at(0).at("status"), "skipped");
  EXPECT_EQ(json.at("checks").at(0).at("title").at("text"), "NVIDIA driver");
  EXPECT_EQ(json.at("checks").at(0).at("evidence").at("code"), "doctor.no_nvidia_gpu");
  EXPECT_EQ(json.at("checks").at(0).at("evidence").at("text"), text_of(report.checks.front().evidence));
  EXPECT_TRUE(json.at("checks").at(0).at("fix").is_null());
}

}  // namespace
}  // namespace ridgeline::doctor
