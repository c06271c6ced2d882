// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile_comparison.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "fakes/words.hpp"

namespace ridgeline::analysis {
namespace {

using schema::ModuleKind;
using schema::ProfileRun;

/// A model of three modules with 1, 3 and 6 ms a step, whose steps scatter by `spread` (a share).
class Profiles {
 public:
  explicit Profiles(std::uint64_t seed) : random_(seed) {}

  ProfileRun make(std::size_t steps, double spread, double slower_head = 1, double slower_all = 1) {
    ProfileRun run;
    auto& tables = run.tables;
    tables.step_name = "step";
    tables.modules.push_back({"", "", -1, ModuleKind::root});
    const std::vector<std::pair<std::string, double>> modules{
        {"stem", 1e6}, {"body", 3e6}, {"head", 6e6 * slower_head}};
    for (const auto& [name, ns] : modules) tables.modules.push_back({name, name, 0, ModuleKind::module});
    for (std::size_t step = 0; step < steps; ++step) {
      const double common = std::exp(std::normal_distribution<double>(0, spread)(random_)) * slower_all;
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < modules.size(); ++i) {
        const auto ns = std::llround(modules[i].second * common *
                                     std::exp(std::normal_distribution<double>(0, spread / 5)(random_)));
        tables.modules[i + 1].step_ns.push_back(ns);
        sum += ns;
      }
      tables.modules.front().step_ns.push_back(sum);
      tables.steps.push_back({"step " + std::to_string(step), 0, sum, sum, 30});
    }
    tables.modules.front().kernels = static_cast<std::int64_t>(30 * steps);
    return run;
  }

 private:
  std::mt19937_64 random_;
};

constexpr double kMinEffect = 0.02;

TEST(ProfileComparison, finds_three_percent_in_five_repeats_and_nothing_in_none) {
  constexpr int kTrials = 2000;
  Profiles profiles(1);
  int found = 0;
  int false_alarms = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto a = profiles.make(5, 0.005);
    found +=
        compare_profiles(a, profiles.make(5, 0.005, 1.05), kMinEffect).total.verdict == schema::Verdict::slower ? 1 : 0;
    const auto same = compare_profiles(a, profiles.make(5, 0.005), kMinEffect).total.verdict;
    false_alarms += same == schema::Verdict::slower ? 1 : 0;
  }
  EXPECT_GE(found, kTrials * 95 / 100) << "5 % of a part that is 60 % of the whole are 3 % of it";
  EXPECT_LE(false_alarms, kTrials / 100);
}

TEST(ProfileComparison, whole_times_of_different_lengths_are_not_compared) {
  Profiles profiles(3);
  auto a = profiles.make(40, 0.005);
  auto b = profiles.make(4, 0.005);
  a.tables.steps.clear();
  b.tables.steps.clear();
  a.tables.span_ns = 400'000'000;
  b.tables.span_ns = 40'000'000;
  EXPECT_FALSE(compare_profiles(a, b, kMinEffect).not_comparable.empty());
  b.tables.modules.front().kernels = a.tables.modules.front().kernels;
  EXPECT_TRUE(compare_profiles(a, b, kMinEffect).not_comparable.empty()) << "the same work, faster";
}

TEST(ProfileComparison, kernels_of_different_numbers_of_steps_are_compared_per_step) {
  Profiles profiles(4);
  auto a = profiles.make(40, 0.005);
  auto b = profiles.make(4, 0.005);
  const auto gemm = [](std::int64_t steps, std::int64_t ns) {
    schema::ProfileKernel out;
    out.name = "gemm";
    out.calls = 3 * steps;
    out.total_ns = ns * steps;
    return out;
  };
  a.tables.kernels = {gemm(40, 1'000)};
  b.tables.kernels = {gemm(4, 1'000)};
  const auto same = compare_profiles(a, b, kMinEffect);
  EXPECT_TRUE(same.per_step);
  EXPECT_TRUE(same.kernels.empty());
  EXPECT_TRUE(same.not_comparable.empty());
  b.tables.kernels = {gemm(4, 2'000)};
  const auto slower = compare_profiles(a, b, kMinEffect);
  ASSERT_EQ(slower.kernels.size(), 1U);
  EXPECT_EQ(slower.kernels.front().a_ns, 1'000);
  EXPECT_EQ(slower.kernels.front().b_ns, 2'000);
  EXPECT_EQ(slower.kernels.front().a, 3);
}

TEST(ProfileComparison, modules_are_told_with_corrected_values) {
  constexpr int kTrials = 500;
  Profiles profiles(2);
  int named = 0;
  int wrong = 0;
  for (int i = 0; i < kTrials; ++i) {
    const auto found = compare_profiles(profiles.make(8, 0.003), profiles.make(8, 0.003, 1.05), kMinEffect);
    named += !found.times.empty() && found.times.front().path == "head" ? 1 : 0;
    wrong +=
        std::any_of(found.times.begin(), found.times.end(), [](const auto& change) { return change.path != "head"; })
            ? 1
            : 0;
  }
  EXPECT_GE(named, kTrials * 99 / 100);
  EXPECT_LE(wrong, kTrials * 6 / 100) << "5 % by the correction";
}

TEST(ProfileComparison, fewer_than_three_steps_give_no_verdict) {
  Profiles profiles(3);
  const auto found = compare_profiles(profiles.make(2, 0.001), profiles.make(5, 0.001, 2), kMinEffect);
  EXPECT_EQ(found.total.verdict, schema::Verdict::inconclusive);
  EXPECT_TRUE(found.times.empty());
  ASSERT_FALSE(found.remarks.empty());
  EXPECT_NE(fakes::text_of(found.remarks.front()).find("2 and 5 steps"), std::string::npos);
}

TEST(ProfileComparison, without_steps_all_that_was_recorded_is_compared) {
  Profiles profiles(3);
  auto a = profiles.make(0, 0.001);
  auto b = profiles.make(5, 0.001);
  a.tables.span_ns = 30'000'000;
  b.tables.span_ns = 60'000'000;
  const auto found = compare_profiles(a, b, kMinEffect);
  EXPECT_NEAR(found.total.ratio, 0.5, 1e-9) << "not a whole recording against a step";
  ASSERT_FALSE(found.remarks.empty());
  EXPECT_TRUE(fakes::text_of(found.remarks.front()).starts_with("no verdict: A has no steps, so all"))
      << fakes::text_of(found.remarks.front());
  b.tables.steps.clear();
  EXPECT_TRUE(
      fakes::text_of(compare_profiles(a, b, kMinEffect).remarks.front()).starts_with("no verdict: both have no steps"));
  EXPECT_NE(fakes::text_of(found.remarks.front()).find("torch.profiler's step()"), std::string::npos);
  a.request.command = {"python", "train.py"};
  const auto recorded = fakes::text_of(compare_profiles(a, b, kMinEffect).remarks.front());
  EXPECT_EQ(recorded.find("torch.profiler"), std::string::npos) << recorded;
  EXPECT_NE(recorded.find("a step is a call of a PyTorch model"), std::string::npos) << recorded;
  EXPECT_EQ(fakes::text_of(compare_profiles(ProfileRun(), ProfileRun(), kMinEffect).remarks.front()),
            "no verdict: there are no times to compare");
}

TEST(ProfileComparison, the_clock_is_named_before_the_code) {
  Profiles profiles(4);
  const auto clock = compare_profiles(profiles.make(10, 0.001), profiles.make(10, 0.001, 1, 1.1), kMinEffect);
  ASSERT_FALSE(clock.remarks.empty());
  EXPECT_NE(fakes::text_of(clock.remarks.front()).find("look at clocks"), std::string::npos)
      << fakes::text_of(clock.remarks.front());
  const auto code = compare_profiles(profiles.make(10, 0.001), profiles.make(10, 0.001, 1.1), kMinEffect);
  EXPECT_TRUE(code.remarks.empty());
}

TEST(ProfileComparison, operations_and_gpus) {
  Profiles profiles(5);
  auto a = profiles.make(5, 0.001);
  auto b = profiles.make(5, 0.001);
  a.tables.operators = {{"aten::mm", 10, 100}, {"aten::copy_", 4, 40}, {"aten::old", 1, 10}};
  b.tables.operators = {{"aten::mm", 10, 100}, {"aten::copy_", 52, 400}, {"aten::new", 2, 10}};
  a.tables.devices.resize(1);
  a.tables.devices.front().device = 3;
  a.tables.devices.front().name = "NVIDIA A100";
  b.tables.devices.resize(2);
  b.tables.devices.front().device = 1;
  b.tables.devices.front().name = "Tesla V100";
  const auto found = compare_profiles(a, b, kMinEffect);
  ASSERT_EQ(found.only_a.size(), 1U);
  EXPECT_EQ(found.only_a.front().name, "aten::old");
  ASSERT_EQ(found.only_b.size(), 1U);
  EXPECT_EQ(found.only_b.front().name, "aten::new");
  ASSERT_EQ(found.changed.size(), 1U);
  EXPECT_EQ(found.changed.front().b, 52);
  ASSERT_EQ(found.devices.size(), 1U) << "by their order";
  EXPECT_FALSE(found.devices.front().same);
  EXPECT_EQ(found.remarks.size(), 2U) << "another number of GPUs, another model";
}

}  // namespace
}  // namespace ridgeline::analysis
