// SPDX-License-Identifier: Apache-2.0
// Plants causes into the synthetic training step, runs the experiments and asks for the diagnosis.

#include <gtest/gtest.h>

#include "analysis/bench_rules.hpp"
#include "fakes/local_executor.hpp"
#include "fakes/words.hpp"
#include "workload/training/synthetic_step_runner.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AmpMode;
using schema::TrainingSettings;

struct Planted {
  std::string code;
  std::string target;
  TrainingSettings base;
  bool on_cpu = false;
};

std::vector<schema::BenchFinding> diagnose(const Planted& planted, double cores = 16) {
  const auto clock = std::make_shared<const workload::VirtualClock>();
  execute::TrainingOptions options;
  options.factory = workload::make_synthetic_steps(clock);
  options.clock = clock;
  const auto executor = fakes::make_training_executor(std::move(options));
  schema::BenchRun run;
  for (const auto& experiment : plan_experiments(planted.base, planted.on_cpu, cores)) {
    schema::TrainingTrialSpec spec;
    spec.job.target = planted.target;
    spec.device = planted.on_cpu ? "cpu" : "cuda:0";
    spec.settings = experiment.settings;
    spec.data = experiment.data;
    schema::BenchTrial trial;
    trial.id = static_cast<int>(run.trials.size()) + 1;
    trial.settings = experiment.settings;
    trial.data = experiment.data;
    const auto outcome = execute::run_training(*executor, spec);
    EXPECT_TRUE(outcome);
    if (outcome) trial.outcome = *outcome;
    run.trials.push_back(std::move(trial));
  }
  return diagnose_bench(run, {planted.base, planted.on_cpu, cores, {}});
}

/// Each cause in several strengths and with several seeds.
std::vector<Planted> planted_causes() {
  std::vector<Planted> out;
  for (int i = 0; i < 7; ++i) {
    const auto seed = fmt::format("seed={},noise=0.01,amp_gain=1.0", i + 1);
    const double more = 1 + 0.25 * i;
    const TrainingSettings loaded{256, 8, AmpMode::off, true};
    out.push_back({"storage_bound", fmt::format("{},storage_rate={:.0f},decode_us=50", seed, 8000 / more), loaded});
    out.push_back({"decode_bound",
                   fmt::format("{},decode_us={:.0f},cores=8,over=0", seed, 2000 * more),
                   {256, 16, AmpMode::off, true}});
    out.push_back(
        {"too_few_workers", fmt::format("{},decode_us={:.0f}", seed, 300 * more), {256, 2, AmpMode::off, true}});
    out.push_back({"unpinned_copy",
                   fmt::format("{},decode_us=20,sample_kb={:.0f},pageable_gb_s=4", seed, 200 * more),
                   {256, 8, AmpMode::off, false}});
    out.push_back({"batch_too_small",
                   fmt::format("{},fill={:.0f},decode_us=20,launch_ms=0.1", seed, 200 * more),
                   {64, 8, AmpMode::off, true}});
    out.push_back({"launch_bound",
                   fmt::format("{},launch_ms={:.1f},compute_us=10,decode_us=20,fill=4", seed, 4 * more),
                   {64, 8, AmpMode::off, true}});
    out.push_back({"gpu_bound",
                   fmt::format("{},compute_us={:.0f},decode_us=50", seed, 300 * more),
                   {512, 8, AmpMode::off, true}});
    out.push_back({"memory_thrashing",
                   fmt::format("{},memory_gb=8,sample_gb=0.0132,decode_us=20,fill=2,thrash={:.2f}", seed, 0.3 * more),
                   {512, 8, AmpMode::off, true}});
    out.push_back({"amp_would_help",
                   fmt::format("seed={},noise=0.01,compute_us=300,decode_us=30,amp_gain={:.2f}", i + 1, 1.2 + 0.2 * i),
                   {512, 8, AmpMode::off, true}});
    out.push_back({"cpu_oversubscribed",
                   fmt::format("{},cores=8,over={:.2f},decode_us=20,compute_us=100", seed, 0.3 * more),
                   {256, 16, AmpMode::off, true}});
    out.push_back({"cpu_oversubscribed",
                   fmt::format("{},cores=8,over=0,threads={:.0f},compute_us=20", seed, 4 * more),
                   {256, 4, AmpMode::off, true}});
    out.push_back({"cpu_bound",
                   fmt::format("{},compute_us={:.0f},decode_us=10,fill=2", seed, 800 * more),
                   {256, 2, AmpMode::off, false},
                   true});
  }
  return out;
}

/// Oversubscription needs fewer cores than the planted workers; the rest is told of a machine with room.
double cores_of(const Planted& planted) {
  if (planted.code == "decode_bound") return 8;
  return planted.code == "cpu_oversubscribed" ? 8 : 32;
}

TEST(BenchDiagnosis, planted_causes_come_first) {
  const auto causes = planted_causes();
  ASSERT_GE(causes.size(), 60U);
  for (const auto& planted : causes) {
    const auto findings = diagnose(planted, cores_of(planted));
    EXPECT_EQ(findings.empty() ? "nothing" : findings.front().code, planted.code) << planted.target;
  }
}

TEST(BenchDiagnosis, the_predicted_gain_is_what_the_change_brings) {
  const Planted planted{"too_few_workers", "decode_us=600,amp_gain=1", {256, 2, AmpMode::off, true}};
  const auto findings = diagnose(planted);
  ASSERT_FALSE(findings.empty());
  const auto options = *workload::parse_step_options(planted.target);
  auto fixed = planted.base;
  fixed.workers = 4;
  const double before = workload::synthetic_phases(options, planted.base, schema::DataMode::loader, false).wall_ms;
  const double after = workload::synthetic_phases(options, fixed, schema::DataMode::loader, false).wall_ms;
  EXPECT_NEAR(*findings.front().predicted_gain, before / after - 1, 0.1);
  EXPECT_NE(fakes::text_of(findings.front().advice).find("num_workers: 4"), std::string::npos);
}

TEST(BenchDiagnosis, where_fewer_workers_are_faster_their_work_is_not_to_blame) {
  const TrainingSettings base{64, 4, AmpMode::bf16, true};
  auto half = base;
  half.workers = 2;
  schema::BenchRun run;
  const auto add = [&](const TrainingSettings& settings, schema::DataMode data, double rate) {
    schema::BenchTrial trial;
    trial.id = static_cast<int>(run.trials.size()) + 1;
    trial.settings = settings;
    trial.data = data;
    trial.outcome.measurement.emplace();
    trial.outcome.measurement->samples_per_s = {rate, rate, rate};
    trial.outcome.measurement->resources.loader_cpu_s = 9;
    trial.outcome.measurement->resources.loader_wall_s = 10;
    run.trials.push_back(std::move(trial));
  };
  add(base, schema::DataMode::loader, 500);
  add(base, schema::DataMode::host, 5000);
  add(base, schema::DataMode::loader_only, 550);
  auto alone = diagnose_bench(run, {base, false, 4, {}});
  ASSERT_EQ(alone.size(), 1U);
  EXPECT_EQ(alone.front().code, "decode_bound");
  add(half, schema::DataMode::loader, 1000);
  const auto findings = diagnose_bench(run, {base, false, 4, {}});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().code, "cpu_oversubscribed");
  // Each by itself is fast, and half the workers change nothing.
  run.trials.pop_back();
  run.trials.back().outcome.measurement->samples_per_s = {900, 900, 900};
  add(half, schema::DataMode::loader, 505);
  const auto together = diagnose_bench(run, {base, false, 4, {}});
  ASSERT_EQ(together.size(), 1U);
  EXPECT_EQ(together.front().code, "cpu_oversubscribed");
  EXPECT_FALSE(together.front().predicted_gain);
}

TEST(BenchDiagnosis, without_the_base_trial_nothing_is_said) {
  EXPECT_TRUE(diagnose_bench(schema::BenchRun{}, {{256, 2, AmpMode::off, true}, false, 8, {}}).empty());
}

/// What is said of trials under one setting with these rates and this busy share of the device.
std::string code_of(const std::vector<std::pair<schema::DataMode, double>>& rates, double busy, double h2d_ms = 0) {
  schema::BenchRun run;
  for (const auto& [data, rate] : rates) {
    schema::BenchTrial trial;
    trial.id = static_cast<int>(run.trials.size()) + 1;
    trial.settings = {256, 4, AmpMode::bf16, true};
    trial.data = data;
    auto& seen = trial.outcome.measurement.emplace();
    seen.samples_per_s = {rate, rate, rate};
    seen.resources.gpu_busy = busy;
    seen.phases.wall_ms.value = 1;
    seen.phases.h2d_ms.value = h2d_ms;
    run.trials.push_back(std::move(trial));
  }
  const auto findings = diagnose_bench(run, {{256, 4, AmpMode::bf16, true}, false, 16, {}});
  return findings.empty() ? "" : findings.front().code;
}

// A run of 15 s on an H200 had time for three trials and called each fault gpu_bound; an mlp whose device was busy 10 %
// of the time was called so too.
TEST(BenchDiagnosis, that_the_device_computes_all_the_time_takes_evidence) {
  using schema::DataMode;
  EXPECT_EQ(code_of({{DataMode::loader, 100}, {DataMode::host, 101}, {DataMode::device, 104}}, 0.95), "gpu_bound");
  EXPECT_EQ(code_of({{DataMode::loader, 100}}, 0.95), "undetermined");
  EXPECT_EQ(code_of({{DataMode::loader, 100}, {DataMode::host, 101}, {DataMode::device, 104}}, 0.3), "undetermined");
  EXPECT_EQ(code_of({{DataMode::loader, 100}, {DataMode::host, 130}, {DataMode::device, 140}}, 0.8), "undetermined");
  // That mlp: 25 MB a step over PCIe.
  EXPECT_EQ(code_of({{DataMode::loader, 192}, {DataMode::host, 195}, {DataMode::device, 322}}, 0.34, 0.45),
            "copy_bound");
  EXPECT_EQ(code_of({{DataMode::loader, 203}, {DataMode::host, 203}, {DataMode::device, 212}}, 0.95, 0.04),
            "gpu_bound");
}

}  // namespace
}  // namespace ridgeline::analysis
