// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analysis/findings.hpp"
#include "fakes/words.hpp"
#include "gpu_run_builder.hpp"

namespace ridgeline::analysis {
namespace {

using schema::FlagLevel;
using schema::TrialStatus;

/// The finding whose title starts so; empty when there is none.
Finding titled(const GpuRunBuilder& builder, const std::string& start) {
  for (const auto& finding : find_all(builder.run, builder.outcomes))
    if (fakes::text_of(finding.title).rfind(start, 0) == 0) return finding;
  return {};
}

TEST(GpuRules, report_clocks_held_down_with_cause_time_and_what_was_taken_again) {
  GpuRunBuilder builder;
  builder.add_gpu({}, 2, 90);
  EXPECT_EQ(fakes::text_of(titled(builder, "The GPU throttled its clocks").title), "");
  auto& measurement = builder.add_gpu({{"prefer_nhwc", true}}, 1, 90);
  measurement.gpu->throttle_ns = {{"power", 0.25e9}, {"thermal", 0.0}};
  measurement.gpu->sm_clock_min_mhz = 1305;
  measurement.gpu->discarded_s = 0.5;
  measurement.flags = {{FlagLevel::notice, "throttled", fakes::legacy("throttled")}};
  builder.run.environment.gpus[0].power_limit_w = 400;
  builder.run.environment.gpus[0].default_power_limit_w = 700;
  builder.run.verdict.emplace().decision = schema::Decision::change;
  builder.run.verdict->trial_id = 2;
  const auto finding =
      titled(builder, "The GPU throttled its clocks during 1 of 2 trials, the recommended one among them");
  EXPECT_EQ(finding.kind, FindingKind::quality);
  EXPECT_EQ(fakes::text_of(finding.evidence),
            "trial 2; power for 250 ms of 1.00 s of timing; SM clock down to 1305 MHz; 500 ms of timing was discarded "
            "and repeated; some results count although the clock was throttled");
  EXPECT_NE(fakes::text_of(finding.advice).find("400 W of 700 W"), std::string::npos) << fakes::text_of(finding.advice);
  EXPECT_EQ(fakes::text_of(titled(builder, "1 of 2 trials ran at a reduced clock").title), "") << "said twice";
}

TEST(GpuRules, go_by_the_clocks_reasons_where_the_driver_counts_no_time) {
  GpuRunBuilder builder;
  auto& gpu = *builder.add_gpu({}, 2, 90).gpu;
  const auto told = [&] { return titled(builder, "The GPU throttled its clocks during 1 of 1 trials"); };
  for (auto& sample : gpu.samples) sample.clock_reasons = sample.at_s < gpu.timed_from_s ? 0x4 : 0x1;
  EXPECT_EQ(fakes::text_of(told().title), "") << "throttled before it was timed only";
  for (auto& sample : gpu.samples) sample.clock_reasons = sample.at_s > gpu.timed_from_s ? 0x4 : 0x1;
  gpu.clock_reasons = {"sw_power_cap"};
  EXPECT_EQ(fakes::text_of(told().evidence),
            "trial 1; sw_power_cap in 4 of 5 samples; the driver reports no durations");
  EXPECT_EQ(told().kind, FindingKind::quality);
  EXPECT_EQ(fakes::text_of(told().advice).rfind("The card is at its power limit", 0), 0U)
      << fakes::text_of(told().advice);
  gpu.samples.clear();
  EXPECT_EQ(fakes::text_of(told().evidence), "trial 1; sw_power_cap at times; the driver reports no durations");
  gpu.throttle_ns = {{"power", 0.0}};
  EXPECT_EQ(fakes::text_of(told().title), "") << "the counter knows better";
}

TEST(GpuRules, overlook_the_usual_breathing_of_the_clock) {
  GpuRunBuilder builder;
  builder.add_gpu({}, 2, 90).gpu->throttle_ns = {{"power", 5e6}};
  EXPECT_EQ(fakes::text_of(titled(builder, "The GPU throttled its clocks").title), "");
}

TEST(GpuRules, do_not_take_timing_that_others_disturbed_for_clocks_held_down) {
  GpuRunBuilder builder;
  auto& measurement = builder.add_gpu({}, 2, 90);
  measurement.gpu->discarded_s = 0.5;
  measurement.flags = {{FlagLevel::info, "shared_rounds", fakes::legacy("taken again")}};
  EXPECT_EQ(fakes::text_of(titled(builder, "The GPU throttled its clocks").title), "");
}

TEST(GpuRules, name_other_processes_on_the_gpu) {
  GpuRunBuilder builder;
  builder.add_gpu({}, 2, 90).gpu->neighbours_after = {{4242, std::int64_t{3} << 30}, {77, std::nullopt}};
  builder.add_gpu({{"prefer_nhwc", true}}, 1, 90);
  const auto finding = titled(builder, "Other processes were on the GPU during 1 of 2 trials");
  EXPECT_EQ(fakes::text_of(finding.evidence), "trial 1; process 77 and 4242 with up to 3.00 GiB of GPU memory");
}

TEST(GpuRules, tell_what_a_process_of_its_own_gains) {
  GpuRunBuilder builder;
  builder.add_gpu({}, 2, 90);
  builder.add_gpu({{"enable_cuda_graph", true}}, 1, 90);
  auto& verdict = builder.run.verdict.emplace();
  verdict.decision = schema::Decision::change;
  verdict.trial_id = 2;
  const auto told = [&] { return titled(builder, "In a process with one session"); };
  EXPECT_EQ(fakes::text_of(told().title), "") << "it was not measured";
  verdict.isolated_key = "isolated";
  EXPECT_EQ(fakes::text_of(told().title), "") << "the record is gone";
  auto& isolated = builder.outcomes["isolated"];
  isolated = builder.outcomes[builder.run.trials[1].key];
  EXPECT_EQ(fakes::text_of(told().title), "") << "no faster";
  for (double& latency : isolated.measurement->latency_ns) latency *= 0.92;
  EXPECT_EQ(fakes::text_of(told().title),
            "In a process with one session and one CUDA stream, the recommended settings take 920 µs, 8 % less");
  EXPECT_NE(fakes::text_of(told().evidence).find("median 920 µs against 1.00 ms of trial 2"), std::string::npos)
      << fakes::text_of(told().evidence);
  EXPECT_EQ(told().kind, FindingKind::gain);
  isolated.status = TrialStatus::crashed;
  EXPECT_EQ(fakes::text_of(told().title), "");
}

TEST(GpuRules, warn_of_a_card_nearly_full) {
  GpuRunBuilder builder;
  auto& gpu = *builder.add_gpu({}, 2, 90).gpu;
  gpu.device_peak_bytes = 120'000'000'000;
  EXPECT_EQ(fakes::text_of(titled(builder, "GPU memory is nearly full").title), "");
  gpu.device_peak_bytes = 141'000'000'000;
  EXPECT_EQ(fakes::text_of(titled(builder, "GPU memory is nearly full").title),
            "GPU memory is nearly full: 94 % in use at the peak of trial 1");
}

TEST(GpuRules, say_that_the_memory_limit_does_not_bound_the_process) {
  GpuRunBuilder builder;
  auto& gpu = *builder.add_gpu({{"gpu_mem_limit_gb", 4}}, 2, 90).gpu;
  gpu.process_peak_bytes = 3'900'000'000;
  EXPECT_EQ(fakes::text_of(titled(builder, "gpu_mem_limit_gb").title), "");
  gpu.process_peak_bytes = 5'100'000'000;
  EXPECT_NE(
      fakes::text_of(titled(builder, "gpu_mem_limit_gb=4 limits the runtime's arena").evidence).find("reached 5.10 GB"),
      std::string::npos);
}

TEST(GpuRules, tell_why_a_cuda_graph_was_refused_and_whether_the_override_frees_it) {
  GpuRunBuilder builder;
  builder.add_gpu({}, 2, 90);
  builder.add_failed({{"enable_cuda_graph", true}}, TrialStatus::unsupported,
                     "enable_cuda_graph=true: 5 nodes run on the CPU: Shape \"/Shape\"");
  builder.outcomes[builder.run.trials.back().key].failure->phase = schema::TrialPhase::create_session;
  auto finding =
      titled(builder, "CUDA graph refused: enable_cuda_graph=true: 5 nodes run on the CPU: Shape \"/Shape\"");
  EXPECT_EQ(fakes::text_of(finding.advice).rfind("A CUDA graph needs every node on the GPU", 0), 0U)
      << fakes::text_of(finding.advice);
  builder.run.workload.dim_names = {{"x", {"N"}}};
  finding = titled(builder, "CUDA graph refused");
  EXPECT_EQ(fakes::text_of(finding.evidence), "trial 2");
  EXPECT_EQ(fakes::text_of(finding.advice).rfind("Try override_free_dimensions=true", 0), 0U)
      << fakes::text_of(finding.advice);
  EXPECT_EQ(fakes::text_of(titled(builder, "1 configuration is not supported").title), "") << "said twice";
  builder.add_gpu({{"enable_cuda_graph", true}, {"override_free_dimensions", true}}, 1, 95);
  finding = titled(builder, "CUDA graph refused");
  EXPECT_EQ(fakes::text_of(finding.advice).rfind("With override_free_dimensions=true the graph was captured", 0), 0U)
      << fakes::text_of(finding.advice);
}

TEST(GpuRules, compare_the_energy_of_an_item) {
  GpuRunBuilder builder;
  builder.add_gpu({}, 2, 90).gpu->energy_mj_per_item = 400;
  builder.add_gpu({{"prefer_nhwc", true}}, 1, 90).metrics["gpu_energy_mj_per_item"] = 260;
  const auto finding = titled(builder, "Energy per item is 35 % lower than before");
  EXPECT_EQ(finding.kind, FindingKind::gain);
  EXPECT_NE(fakes::text_of(finding.evidence).find("260 mJ (trial 2) against 400 mJ (trial 1)"), std::string::npos)
      << fakes::text_of(finding.evidence);
}

TEST(GpuRules, take_the_energy_from_what_ran_long_enough_for_the_counter) {
  GpuRunBuilder builder;
  builder.add_gpu({}, 2, 90).gpu->energy_mj_per_item.reset();
  builder.add_gpu({{"prefer_nhwc", true}}, 1, 90).gpu->energy_mj_per_item.reset();
  auto& verdict = builder.run.verdict.emplace();
  verdict.decision = schema::Decision::change;
  verdict.trial_id = 2;
  verdict.isolated_key = "isolated";
  verdict.isolated_current_key = "current isolated";
  (builder.outcomes["isolated"] = builder.outcomes[builder.run.trials[1].key]).measurement->gpu->energy_mj_per_item =
      260;
  EXPECT_EQ(fakes::text_of(titled(builder, "Energy per item").title), "") << "nothing to compare it with";
  auto& current = builder.outcomes["current isolated"] = builder.outcomes[builder.run.trials[0].key];
  current.measurement->gpu->energy_mj_per_item = 400;
  const auto finding = titled(builder, "Energy per item is 35 % lower than before");
  EXPECT_NE(
      fakes::text_of(finding.evidence).find("260 mJ (the recommended settings) against 400 mJ (the current settings"),
      std::string::npos)
      << fakes::text_of(finding.evidence);
}

TEST(GpuRules, tell_which_comparisons_were_disturbed) {
  GpuRunBuilder builder;
  builder.add_gpu({}, 2, 90);
  builder.add_gpu({{"prefer_nhwc", true}}, 1, 90);
  auto& verdict = builder.run.verdict.emplace();
  verdict.decision = schema::Decision::change;
  verdict.trial_id = 2;
  verdict.configuration = {{"prefer_nhwc", true}};
  builder.run.pairs.resize(3);
  EXPECT_EQ(fakes::text_of(titled(builder, "1 of 3 comparisons").title), "");
  builder.run.pairs[0].b = verdict.configuration;
  builder.run.pairs[0].flags = {{FlagLevel::notice, "throttled", fakes::legacy("throttled for 40 %")},
                                {FlagLevel::info, "time_budget", fakes::legacy("short")},
                                {FlagLevel::notice, "runtime_log", fakes::legacy("the trial has it too")}};
  const auto finding = titled(builder, "1 of 3 comparisons ran at a reduced clock, the deciding one among them");
  EXPECT_EQ(finding.kind, FindingKind::quality);
  EXPECT_EQ(fakes::text_of(finding.evidence), "throttled for 40 %");
  EXPECT_NE(fakes::text_of(finding.advice).find("at its power limit"), std::string::npos) << "no cooling helps there";
  EXPECT_EQ(fakes::text_of(titled(builder, "1 of 3 comparisons carry").title), "");
}

TEST(GpuRules, leave_the_cpus_rule_of_arithmetic_to_cpus) {
  GpuRunBuilder builder;
  builder.add_gpu({}, 2, 90);
  EXPECT_EQ(fakes::text_of(titled(builder, "Arithmetic is the likely limit").title), "");
  EXPECT_EQ(fakes::text_of(titled(builder, "Arithmetic and memory traffic may both be the limit:").title), "");
}

}  // namespace
}  // namespace ridgeline::analysis
