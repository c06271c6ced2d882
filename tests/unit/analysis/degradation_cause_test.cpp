// SPDX-License-Identifier: Apache-2.0
#include "analysis/degradation_cause.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "schema/messages.hpp"

namespace ridgeline::analysis {
namespace {

using fakes::text_of;

ServiceState healthy() {
  ServiceState state;
  state.environment.usable_cpus = 16;
  state.environment.memory_bytes = 128LL << 30;
  state.environment.memory_available_bytes = 100LL << 30;
  state.environment.load_average = 1;
  state.environment.governor = "performance";
  auto& card = state.environment.gpus.emplace_back();
  card.uuid = "GPU-1";
  card.memory_bytes = 140LL << 30;
  card.driver_version = "580.159";
  state.runtime.name = "onnxruntime";
  state.runtime.version = "1.29.0";
  state.runtime.library_sha256 = "aa";
  state.runtime.provider_libraries["cuda"]["libcudnn.so"] = "9.14.0";
  state.model_sha256 = std::string(64, 'a');
  state.shapes = {{{"x", {1, 3, 224, 224}}}};
  auto& gpu = state.gpu.emplace();
  gpu.uuid = "GPU-1";
  gpu.timed_from_s = 1;
  gpu.timed_to_s = 3;
  gpu.sm_clock_mhz = 1980;
  gpu.throttle_ns = {{"power", 0}, {"thermal", 0}};
  gpu.memory_free_before_bytes = 130LL << 30;
  gpu.neighbours_before = {{100, std::nullopt}};
  gpu.device_used_before_bytes = 1LL << 30;
  state.configuration.emplace(schema::Configuration{{"intra_op_num_threads", 4}});
  return state;
}

std::vector<CauseKind> kinds(const ServiceState& now) {
  std::vector<CauseKind> list;
  for (const auto& cause : find_causes(healthy(), now)) {
    EXPECT_FALSE(cause.evidence.empty());
    EXPECT_FALSE(cause.advice.empty());
    list.push_back(cause.kind);
  }
  return list;
}

using Kinds = std::vector<CauseKind>;

TEST(DegradationCause, nothing_changed_is_unknown_with_what_was_looked_at) {
  const auto causes = find_causes(healthy(), healthy());
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].kind, CauseKind::unknown);
  EXPECT_NE(text_of(causes[0].evidence).find("1980 MHz"), std::string::npos);
}

TEST(DegradationCause, throttling_is_named_by_the_counter_that_grew) {
  auto now = healthy();
  now.gpu->throttle_ns["thermal"] = 0.6e9;
  now.gpu->sm_clock_mhz = 1400;
  EXPECT_EQ(kinds(now), Kinds{CauseKind::thermal_throttling});
  EXPECT_NE(text_of(find_causes(healthy(), now)[0].evidence).find("30 % of the probe"), std::string::npos);
  now = healthy();
  now.gpu->throttle_ns["power"] = 0.6e9;
  EXPECT_EQ(kinds(now), Kinds{CauseKind::power_throttling});
}

TEST(DegradationCause, throttling_that_was_there_before_is_no_news) {
  auto before = healthy();
  before.gpu->throttle_ns["power"] = 0.5e9;
  auto now = healthy();
  now.gpu->throttle_ns["power"] = 0.6e9;
  EXPECT_EQ(find_causes(before, now)[0].kind, CauseKind::unknown);
}

TEST(DegradationCause, without_counters_the_drivers_reasons_tell) {
  auto before = healthy();
  before.gpu->throttle_ns.clear();
  auto now = before;
  now.gpu->clock_reasons = {"hw_thermal_slowdown"};
  EXPECT_EQ(find_causes(before, now)[0].kind, CauseKind::thermal_throttling);
}

TEST(DegradationCause, a_lower_clock_without_a_reason_is_a_cap) {
  auto now = healthy();
  now.gpu->sm_clock_mhz = 1500;
  EXPECT_EQ(kinds(now), Kinds{CauseKind::clock_cap});
  now.gpu->sm_clock_mhz = 1960;
  EXPECT_EQ(kinds(now), Kinds{CauseKind::unknown});
}

TEST(DegradationCause, a_process_that_was_there_before_is_no_news) {
  auto now = healthy();
  EXPECT_EQ(kinds(now), Kinds{CauseKind::unknown});
  now.gpu->neighbours_after = {{100, std::nullopt}, {4711, 5LL << 30}};
  EXPECT_EQ(kinds(now), Kinds{CauseKind::other_process});
  EXPECT_NE(text_of(find_causes(healthy(), now)[0].evidence).find("4711"), std::string::npos);
}

TEST(DegradationCause, full_memory_of_either_kind_is_told) {
  auto now = healthy();
  now.gpu->memory_free_before_bytes = 2LL << 30;
  EXPECT_EQ(kinds(now), Kinds{CauseKind::memory_pressure});
  now = healthy();
  now.environment.memory_available_bytes = 1LL << 30;
  EXPECT_EQ(kinds(now), Kinds{CauseKind::memory_pressure});
}

TEST(DegradationCause, memory_that_was_as_full_before_is_no_news) {
  auto before = healthy();
  before.gpu->memory_free_before_bytes = 3LL << 30;
  before.environment.memory_available_bytes = 2LL << 30;
  auto now = before;
  now.gpu->memory_free_before_bytes = *now.gpu->memory_free_before_bytes - (1LL << 30);
  now.environment.memory_available_bytes -= 1LL << 30;
  EXPECT_EQ(find_causes(before, now)[0].kind, CauseKind::unknown) << text_of(find_causes(before, now)[0].evidence);
  now.gpu->memory_free_before_bytes = 1LL << 30;
  auto causes = find_causes(before, now);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].kind, CauseKind::memory_pressure);
  EXPECT_NE(text_of(causes[0].evidence).find("3.00 GiB earlier"), std::string::npos) << text_of(causes[0].evidence);
  now = before;
  now.environment.memory_available_bytes = 100LL << 20;
  causes = find_causes(before, now);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].kind, CauseKind::memory_pressure);
  EXPECT_NE(text_of(causes[0].evidence).find("2.00 GiB earlier"), std::string::npos) << text_of(causes[0].evidence);
}

TEST(DegradationCause, full_memory_of_which_nothing_was_known_comes_last_and_says_so) {
  auto before = healthy();
  before.gpu->memory_free_before_bytes.reset();
  before.environment.memory_available_bytes = 0;
  auto now = healthy();
  now.gpu->memory_free_before_bytes = 2LL << 30;
  now.environment.memory_available_bytes = 1LL << 30;
  now.environment.load_average = 30;
  const auto causes = find_causes(before, now);
  ASSERT_EQ(causes.size(), 3U);
  EXPECT_EQ(causes[0].kind, CauseKind::busy_cpu);
  for (const auto at : {1U, 2U}) {
    EXPECT_EQ(causes[at].kind, CauseKind::memory_pressure);
    EXPECT_NE(text_of(causes[at].evidence).find("the earlier value is unknown"), std::string::npos)
        << text_of(causes[at].evidence);
  }
}

TEST(DegradationCause, every_exchanged_version_is_named) {
  auto now = healthy();
  now.runtime.version = "1.30.0";
  now.runtime.library_sha256 = "bb";
  now.runtime.provider_libraries["cuda"]["libcudnn.so"] = "9.15.0";
  now.environment.gpus[0].driver_version = "590.10";
  const auto causes = find_causes(healthy(), now);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].kind, CauseKind::library_changed);
  EXPECT_EQ(text_of(causes[0].evidence),
            "onnxruntime 1.29.0 -> 1.30.0; libcudnn.so 9.14.0 -> 9.15.0; driver 580.159 -> 590.10");
  now = healthy();
  now.runtime.library_sha256 = "bb";
  EXPECT_NE(text_of(find_causes(healthy(), now)[0].evidence).find("a different build"), std::string::npos);
}

TEST(DegradationCause, another_model_or_other_shapes_are_told_apart) {
  auto now = healthy();
  now.model_sha256 = std::string(64, 'b');
  EXPECT_EQ(kinds(now), Kinds{CauseKind::model_changed});
  now = healthy();
  now.shapes = {{{"x", {4, 3, 224, 224}}}};
  EXPECT_EQ(kinds(now), Kinds{CauseKind::shapes_changed});
}

TEST(DegradationCause, a_busy_or_smaller_cpu_is_told) {
  auto now = healthy();
  now.environment.load_average = 20;
  now.environment.usable_cpus = 8;
  now.environment.governor = "powersave";
  EXPECT_EQ(kinds(now), Kinds{CauseKind::busy_cpu});
}

TEST(DegradationCause, what_could_not_be_read_says_nothing) {
  EXPECT_EQ(find_causes(healthy(), ServiceState{})[0].kind, CauseKind::unknown);
  EXPECT_EQ(find_causes(ServiceState{}, healthy())[0].kind, CauseKind::other_process) << "a process nobody knew of";
}

TEST(DegradationCause, a_setting_is_named_with_both_values_and_a_spelled_out_default_is_none) {
  auto now = healthy();
  now.configuration = schema::Configuration{{"intra_op_num_threads", 1}, {"execution_mode", "sequential"}};
  const auto causes = find_causes(healthy(), now);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].kind, CauseKind::setting_changed);
  EXPECT_EQ(text_of(causes[0].evidence), "intra_op_num_threads 4 -> 1");
  now.configuration = schema::Configuration{{"intra_op_num_threads", 4}, {"execution_mode", "sequential"}};
  EXPECT_EQ(kinds(now), Kinds{CauseKind::unknown});
}

TEST(DegradationCause, a_gpu_that_others_keep_busy_comes_before_what_that_does_to_the_clocks) {
  auto now = healthy();
  now.gpu->throttle_ns["power"] = 0.6e9;
  now.gpu->neighbours_before.push_back({7, std::nullopt});
  now.gpu_busy_percent = 98;
  now.process_names[7] = "python train.py";
  const auto causes = find_causes(healthy(), now);
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].kind, CauseKind::other_process);
  EXPECT_NE(text_of(causes[0].evidence).find("process 7 (python train.py)"), std::string::npos)
      << text_of(causes[0].evidence);
  EXPECT_NE(text_of(causes[0].evidence).find("98 %"), std::string::npos);
  EXPECT_EQ(causes[1].kind, CauseKind::power_throttling);
}

TEST(DegradationCause, a_known_process_that_became_busier_is_told) {
  auto before = healthy();
  before.gpu_busy_percent = 20;
  auto now = before;
  now.gpu_busy_percent = 90;
  EXPECT_EQ(find_causes(before, now)[0].kind, CauseKind::other_process);
  now.gpu_busy_percent = 30;
  EXPECT_EQ(find_causes(before, now)[0].kind, CauseKind::unknown);
}

TEST(DegradationCause, memory_of_processes_that_are_not_listed_is_told) {
  auto now = healthy();
  now.gpu->device_used_before_bytes = 5LL << 30;
  EXPECT_EQ(kinds(now), Kinds{CauseKind::other_process});
}

TEST(DegradationCause, the_order_of_a_mix_is_no_change) {
  auto before = healthy();
  before.shapes.push_back({{"x", {8, 3, 224, 224}}});
  auto now = before;
  std::swap(now.shapes[0], now.shapes[1]);
  now.shapes.push_back(now.shapes[0]);
  EXPECT_EQ(find_causes(before, now)[0].kind, CauseKind::unknown);
}

TEST(DegradationCause, a_shifted_mix_is_named_with_its_shares) {
  auto before = healthy();
  before.shape_shares = {{"x:1x3x224x224", 0.9}, {"x:1x3x640x640", 0.1}};
  auto now = before;
  now.shape_shares = {{"x:1x3x224x224", 0.8}, {"x:1x3x640x640", 0.2}};
  EXPECT_EQ(find_causes(before, now)[0].kind, CauseKind::unknown);
  now.shape_shares = {{"x:1x3x224x224", 0.3}, {"x:1x3x640x640", 0.7}};
  const auto cause = find_causes(before, now)[0];
  EXPECT_EQ(cause.kind, CauseKind::shapes_changed);
  EXPECT_NE(text_of(cause.evidence).find("-> x:1x3x640x640 70 %, x:1x3x224x224 30 %"), std::string::npos)
      << text_of(cause.evidence);
  now.shape_shares = {{"x:1x3x224x224", 0.302}, {"x:1x3x640x640", 0.698}};
  EXPECT_EQ(find_causes(before, now)[0].evidence, cause.evidence);
}

TEST(DegradationCause, preempted_inferences_are_a_busy_cpu) {
  auto now = healthy();
  now.disturbance = schema::messages::foreign("other programs ran on its cores");
  EXPECT_EQ(kinds(now), Kinds{CauseKind::busy_cpu});
}

TEST(DegradationCause, cpus_that_became_busier_are_told) {
  auto before = healthy();
  before.cpu_busy_percent = 30;
  auto now = before;
  now.cpu_busy_percent = 50;
  EXPECT_EQ(find_causes(before, now)[0].kind, CauseKind::unknown);
  now.cpu_busy_percent = 90;
  EXPECT_EQ(find_causes(before, now)[0].kind, CauseKind::busy_cpu);
}

TEST(DegradationCause, changes_alone_leave_out_what_only_loads_the_machine) {
  auto now = healthy();
  now.model_sha256 = std::string(64, 'b');
  now.environment.load_average = 30;
  now.gpu->throttle_ns["thermal"] = 1e9;
  const auto changes = find_changes(healthy(), now);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].kind, CauseKind::model_changed);
  EXPECT_TRUE(find_changes(healthy(), healthy()).empty());
}

TEST(DegradationCause, a_state_survives_being_written_down) {
  auto state = healthy();
  state.gpu_busy_percent = 3;
  state.process_names[100] = "service";
  const auto again = base::Json::parse(base::dump_json(state)).get<ServiceState>();
  EXPECT_EQ(base::Json(again), base::Json(state));
}

TEST(DegradationCause, the_gpus_own_counters_come_before_a_process_that_is_only_there) {
  auto now = healthy();
  now.gpu->throttle_ns["thermal"] = 1e9;
  now.gpu->neighbours_before.push_back({7, std::nullopt});
  now.environment.load_average = 30;
  EXPECT_EQ(kinds(now), (Kinds{CauseKind::thermal_throttling, CauseKind::other_process, CauseKind::busy_cpu}));
}

}  // namespace
}  // namespace ridgeline::analysis
