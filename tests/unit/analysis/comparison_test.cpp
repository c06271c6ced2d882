// SPDX-License-Identifier: Apache-2.0
#include "analysis/comparison.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "analysis/comparison_text.hpp"
#include "base/random.hpp"
#include "fakes/noisy_machine.hpp"
#include "fakes/uneven_sessions.hpp"
#include "fakes/words.hpp"
#include "stats/round_estimate.hpp"

namespace ridgeline::analysis {
namespace {

using fakes::with_sessions;
using fakes::with_turns;
using schema::Objective;
using schema::PairedBlock;
using schema::Verdict;

/// Blocks A B B A ... with exact times per ABBA round.
schema::PairedMeasurement exact(const std::vector<std::pair<double, double>>& abba_rounds) {
  schema::PairedMeasurement measurement;
  for (const auto& [a, b] : abba_rounds)
    for (const char arm : {'A', 'B', 'B', 'A'}) {
      const double time = arm == 'A' ? a : b;
      measurement.blocks.push_back({arm, std::vector<double>(5, time), 5 * time});
    }
  return measurement;
}

TEST(Judge, needs_both_the_interval_and_the_effect) {
  EXPECT_EQ(judge(1.05, 1.03, 1.07, 0.02), Verdict::faster);
  EXPECT_EQ(judge(0.95, 0.93, 0.97, 0.02), Verdict::slower);
  EXPECT_EQ(judge(1.05, 0.99, 1.11, 0.02), Verdict::inconclusive);
  EXPECT_EQ(judge(1.015, 1.01, 1.03, 0.02), Verdict::no_difference);  // real, but below the minimum effect
  EXPECT_EQ(judge(1.001, 0.99, 1.012, 0.02), Verdict::no_difference);
  EXPECT_EQ(judge(1.001, 0.99, 1.012, 0), Verdict::inconclusive);
  EXPECT_EQ(judge(1.001, 1.0005, 1.002, 0), Verdict::faster);
}

TEST(ComparePaired, gives_the_ratio_turned_so_that_above_one_is_better) {
  const auto faster = compare_paired(exact({{103, 100}, {102, 100}, {104, 100}, {103, 100}}), Objective::latency, 0.02);
  EXPECT_NEAR(faster.ratio, 1.03, 0.001);
  EXPECT_GT(faster.low, 1.015);
  EXPECT_LT(faster.high, 1.045);
  EXPECT_LT(faster.p_value, 0.01);
  EXPECT_EQ(faster.abba_rounds, 4);
  EXPECT_EQ(faster.verdict, Verdict::faster);
  EXPECT_EQ(compare_paired(exact({{100, 103}, {100, 102}, {100, 104}, {100, 103}}), Objective::latency, 0.02).verdict,
            Verdict::slower);
}

TEST(ComparePaired, matches_students_t_where_nothing_is_trimmed) {
  // log ratios 0.01 0.02 0.03 0.04: mean 0.025, standard error 0.0064550, t(3, 0.975) = 3.18245
  std::vector<std::pair<double, double>> abba_rounds;
  for (const double log : {0.01, 0.02, 0.03, 0.04}) abba_rounds.emplace_back(100 * std::exp(log), 100);
  const auto comparison = compare_paired(exact(abba_rounds), Objective::latency, 0);
  EXPECT_NEAR(comparison.ratio, std::exp(0.025), 1e-9);
  EXPECT_NEAR(std::log(comparison.low), 0.025 - 3.18245 * 0.0064550, 1e-6);
  EXPECT_NEAR(std::log(comparison.high), 0.025 + 3.18245 * 0.0064550, 1e-6);
  EXPECT_NEAR(comparison.p_value, 0.0305, 0.0005);
}

TEST(ComparePaired, cancels_a_linear_drift_exactly) {
  schema::PairedMeasurement measurement;
  double log_speed = 0;
  for (int block = 0; block < 32; ++block) {
    const char arm = block % 4 == 0 || block % 4 == 3 ? 'A' : 'B';
    measurement.blocks.push_back({arm, std::vector<double>(5, 100 * std::exp(log_speed)), 500});
    log_speed += 0.02;
  }
  const auto comparison = compare_paired(measurement, Objective::latency, 0.02);
  EXPECT_NEAR(comparison.ratio, 1, 1e-9);
  EXPECT_EQ(comparison.verdict, Verdict::no_difference);
}

TEST(ComparePaired, is_not_moved_by_two_disturbed_abba_rounds_of_twelve) {
  std::vector<std::pair<double, double>> abba_rounds;
  for (int i = 0; i < 12; ++i) abba_rounds.emplace_back(100 + 0.1 * (i % 3), 100);
  abba_rounds[2] = {300, 100};
  abba_rounds[7] = {500, 100};
  const auto comparison = compare_paired(exact(abba_rounds), Objective::latency, 0.02);
  EXPECT_NEAR(comparison.ratio, 1.001, 0.001);
  EXPECT_EQ(comparison.verdict, Verdict::no_difference);
}

TEST(ComparePaired, leaves_out_incomplete_and_disordered_abba_rounds) {
  auto measurement = exact({{110, 100}, {110, 100}, {111, 100}});
  measurement.blocks.push_back({'A', {900}, 900});
  EXPECT_EQ(compare_paired(measurement, Objective::latency, 0.02).abba_rounds, 3);
  measurement.blocks[5].latency_ns.clear();
  EXPECT_EQ(compare_paired(measurement, Objective::latency, 0.02).abba_rounds, 2);
  measurement.blocks[1].arm = 'A';
  const auto one = compare_paired(measurement, Objective::latency, 0.02);
  EXPECT_EQ(one.abba_rounds, 1);
}

TEST(ComparePaired, with_one_abba_round_is_wide_and_without_any_says_nothing) {
  schema::PairedMeasurement measurement;
  for (const auto& [arm, time] : std::vector<std::pair<char, double>>{{'A', 110}, {'B', 100}, {'B', 100}, {'A', 112}})
    measurement.blocks.push_back({arm, {time}, time});
  const auto one = compare_paired(measurement, Objective::latency, 0.02);
  EXPECT_NEAR(one.ratio, 1.11, 0.001);
  EXPECT_LT(one.low, 1);
  EXPECT_EQ(one.verdict, Verdict::inconclusive);
  const auto none = compare_paired({}, Objective::latency, 0.02);
  EXPECT_EQ(none.abba_rounds, 0);
  EXPECT_EQ(none.verdict, Verdict::inconclusive);
}

TEST(ComparePaired, judges_throughput_per_item_over_the_block_wall_time) {
  auto measurement = exact({{100, 300}, {100, 301}, {100, 299}, {100, 300}});
  measurement.items_per_inference_b = 4;  // three times the time for four times the items
  const auto comparison = compare_paired(measurement, Objective::throughput, 0.02);
  EXPECT_NEAR(comparison.ratio, 4.0 / 3, 0.01);
  EXPECT_EQ(comparison.verdict, Verdict::faster);
  EXPECT_EQ(compare_paired(measurement, Objective::latency, 0.02).verdict, Verdict::slower);
}

TEST(ComparePaired, sees_a_worse_tail_that_the_median_hides) {
  base::Random random(5);
  schema::PairedMeasurement measurement;
  for (int block = 0; block < 48; ++block) {
    const char arm = block % 4 == 0 || block % 4 == 3 ? 'A' : 'B';
    PairedBlock one{arm, {}, 0};
    for (int i = 0; i < 100; ++i) {
      const bool slow = arm == 'B' && random.uniform() < 0.03;
      one.latency_ns.push_back((slow ? 2000 : 1000) * std::exp(0.02 * random.normal()));
      one.wall_ns += one.latency_ns.back();
    }
    measurement.blocks.push_back(std::move(one));
  }
  EXPECT_EQ(compare_paired(measurement, Objective::latency, 0.02).verdict, Verdict::no_difference);
  const auto tail = compare_paired(measurement, Objective::p99, 0.02);
  EXPECT_EQ(tail.verdict, Verdict::slower);
  EXPECT_NEAR(tail.ratio, 0.52, 0.05);
}

TEST(ComparePaired, tells_which_percentile_a_tail_ratio_is_of) {
  const auto tail_of = [](int samples_a_block) {
    const auto few = [&](double ns) { return std::vector<double>(static_cast<std::size_t>(samples_a_block), ns); };
    schema::PairedMeasurement measurement;
    for (int block = 0; block < 40; ++block) {
      const bool a = block % 4 == 0 || block % 4 == 3;
      measurement.blocks.push_back({a ? 'A' : 'B', few(a ? 1000 : 900), 1000.0 * samples_a_block});
    }
    EXPECT_EQ(compare_paired(measurement, Objective::latency, 0.02).tail, 0);
    return compare_paired(measurement, Objective::p99, 0.02).tail;
  };
  EXPECT_EQ(tail_of(50), 0.99);
  EXPECT_EQ(tail_of(49), 0.95);
  EXPECT_EQ(tail_of(1), 0.5);
}

struct Rates {
  double different = 0;
  double faster = 0;
  double slower = 0;
};

/// Shares of verdicts over `rounds` comparisons on the noisy machine at the default plan.
Rates simulate(int rounds, double b_over_a, Objective objective, double min_effect, std::uint64_t seed) {
  Rates rates;
  for (int round = 0; round < rounds; ++round) {
    fakes::NoisyMachine machine(seed + static_cast<std::uint64_t>(round));
    const auto verdict = compare_paired(machine.compare(5e6, 5e6 * b_over_a, {}), objective, min_effect).verdict;
    rates.faster += verdict == Verdict::faster ? 1.0 / rounds : 0;
    rates.slower += verdict == Verdict::slower ? 1.0 / rounds : 0;
  }
  rates.different = rates.faster + rates.slower;
  return rates;
}

TEST(ComparePaired, calls_a_configuration_different_from_itself_at_most_five_times_in_a_hundred) {
  EXPECT_LE(simulate(400, 1, Objective::latency, 0.02, 100).different, 0.05);
  // Without a minimum effect the bare interval has to hold: 5 % and two standard errors of 400 rounds.
  EXPECT_LE(simulate(400, 1, Objective::latency, 0, 100).different, 0.072);
  EXPECT_LE(simulate(200, 1, Objective::throughput, 0, 900).different, 0.081);
  EXPECT_LE(simulate(200, 1, Objective::p99, 0, 1900).different, 0.081);
}

TEST(ComparePaired, finds_a_three_percent_slow_down_at_least_nine_times_in_ten) {
  const auto rates = simulate(200, 1.03, Objective::latency, 0.02, 7000);
  EXPECT_GE(rates.slower, 0.9);
  EXPECT_EQ(rates.faster, 0);
}

TEST(CompareSeparate, tells_which_percentile_a_tail_ratio_is_of) {
  const auto tail_of = [](std::size_t a, std::size_t b) {
    schema::Measurement one;
    schema::Measurement two;
    one.latency_ns.assign(a, 1000);
    two.latency_ns.assign(b, 1000);
    return compare_separate(one, two, Objective::p99, 0.02).tail;
  };
  EXPECT_EQ(tail_of(1000, 1000), 0.99);
  EXPECT_EQ(tail_of(5000, 999), 0.95);
  EXPECT_EQ(tail_of(5000, 5), 0.5) << "also without an interval";
}

TEST(CompareSeparate, finds_a_large_difference_and_forgives_a_small_one) {
  const auto a = fakes::NoisyMachine(1, {.drift = 0.002}).measure(5e6, 5);
  const auto slow = fakes::NoisyMachine(2, {.drift = 0.002}).measure(5.5e6, 5);
  const auto same = fakes::NoisyMachine(3, {.drift = 0.002}).measure(5e6, 5);
  const auto verdict = compare_separate(a, slow, Objective::latency, 0.02);
  EXPECT_EQ(verdict.verdict, Verdict::slower);
  EXPECT_NEAR(verdict.ratio, 1 / 1.1, 0.01);
  EXPECT_EQ(compare_separate(a, same, Objective::latency, 0.02).verdict, Verdict::inconclusive);
  EXPECT_EQ(compare_separate(a, same, Objective::latency, 0.05).verdict, Verdict::no_difference);
  EXPECT_EQ(compare_separate(a, slow, Objective::throughput, 0.02).verdict, Verdict::slower);
}

TEST(CompareSeparate, is_deterministic_and_antisymmetric) {
  const auto a = fakes::NoisyMachine(1).measure(5e6, 2);
  const auto b = fakes::NoisyMachine(2).measure(5.2e6, 2);
  const auto first = compare_separate(a, b, Objective::latency, 0.02);
  const auto again = compare_separate(a, b, Objective::latency, 0.02);
  EXPECT_DOUBLE_EQ(first.low, again.low);
  EXPECT_NEAR(compare_separate(b, a, Objective::latency, 0.02).ratio * first.ratio, 1, 1e-9);
}

TEST(CompareSeparate, admits_drift_inside_a_run_that_single_samples_would_hide) {
  // Each run wanders by 5 % over seconds: twenty thousand tight samples must not pretend to know better.
  int wrong = 0;
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    const fakes::NoisyMachine::Noise noise{.jitter = 0.01, .drift = 0.03, .drift_time_s = 0.3};
    const auto seed = static_cast<std::uint64_t>(round);
    const auto a = fakes::NoisyMachine(300 + seed, noise).measure(5e6, 8);
    const auto b = fakes::NoisyMachine(900 + seed, noise).measure(5e6, 8);
    const auto verdict = compare_separate(a, b, Objective::latency, 0.02).verdict;
    wrong += verdict == Verdict::faster || verdict == Verdict::slower ? 1 : 0;
  }
  EXPECT_LE(wrong, kRounds / 20);
}

TEST(CompareSeparate, never_claims_more_than_the_run_to_run_allowance) {
  schema::Measurement a;
  a.latency_ns.assign(1000, 1e6);
  a.wall_ns = 1e9;
  auto b = a;
  for (double& value : b.latency_ns) value = 1.005e6;
  const auto comparison = compare_separate(a, b, Objective::latency, 0);
  EXPECT_EQ(comparison.verdict, Verdict::inconclusive);
  EXPECT_GT(std::log(comparison.high / comparison.low), 2 * stats::kRunToRunStdev);
}

TEST(CompareSeparate, of_a_handful_of_samples_is_unbounded) {
  schema::Measurement a;
  a.latency_ns = {100, 100};
  auto b = a;
  b.latency_ns = {300};
  const auto comparison = compare_separate(a, b, Objective::latency, 0.02);
  EXPECT_NEAR(comparison.ratio, 1.0 / 3, 1e-9);
  EXPECT_DOUBLE_EQ(comparison.high, kUnbounded);
  EXPECT_EQ(comparison.verdict, Verdict::inconclusive);
  EXPECT_EQ(compare_separate({}, b, Objective::latency, 0.02).verdict, Verdict::inconclusive);
}

TEST(ComparePaired, the_scatter_of_sessions_is_in_the_interval) {
  int wrong = 0;
  int wrong_without_rounds = 0;
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    auto measurement = with_sessions(seed, 10, 0.01, 0.01, 1);
    const auto judged = compare_paired(measurement, Objective::latency, 0);
    wrong += judged.low > 1 || judged.high < 1;
    for (auto& block : measurement.blocks) block.round = 0;
    const auto blind = compare_paired(measurement, Objective::latency, 0);
    wrong_without_rounds += blind.low > 1 || blind.high < 1;
    found +=
        compare_paired(with_sessions(seed, 10, 0.01, 0.01, 1.03), Objective::latency, 0.02).verdict == Verdict::slower;
  }
  EXPECT_LE(wrong, 30) << "5 % of 400 are 20";
  EXPECT_GE(wrong_without_rounds, 60) << "one number for all would be too sure";
  EXPECT_GE(found, 380);
}

TEST(ComparePaired, equal_sessions_do_not_narrow_the_interval_of_the_abba_rounds) {
  auto measurement = with_sessions(7, 10, 0, 0.02, 1);
  for (std::size_t at = 24; at < measurement.blocks.size(); ++at)
    measurement.blocks[at].latency_ns = measurement.blocks[at - 24].latency_ns;
  const auto judged = compare_paired(measurement, Objective::latency, 0.02);
  for (auto& block : measurement.blocks) block.round = 0;
  const auto over_abba_rounds = compare_paired(measurement, Objective::latency, 0.02);
  EXPECT_NEAR(judged.high - judged.low, over_abba_rounds.high - over_abba_rounds.low, 1e-4);
  EXPECT_GT(judged.high - judged.low, 0.002);
}

double share_called_different(int rounds, double turn, double session_stdev, double min_effect = 0.02,
                              double known = 0) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const auto verdict =
        compare_paired(with_turns(seed, rounds, turn, session_stdev), Objective::latency, min_effect, known).verdict;
    wrong += verdict == Verdict::slower || verdict == Verdict::faster;
  }
  return wrong / 400.0;
}

TEST(ComparePaired, a_configuration_is_not_told_from_itself_over_few_pairs_of_sessions) {
  const double ratio_stdev = std::sqrt(2.0) * 0.015;  // as of ResNet-50 and BERT on H200s
  EXPECT_LE(share_called_different(1, 0.02, ratio_stdev), 0.05);
  for (const int rounds : {2, 3, 4, 6, 8})
    EXPECT_LE(share_called_different(rounds, 0.03, ratio_stdev, 0.02, kGpuSessionStdev), 0.05) << rounds;
  for (const int rounds : {4, 6, 12, 20}) EXPECT_LE(share_called_different(rounds, 0.03, 0.024), 0.05) << rounds;
  EXPECT_LE(share_called_different(6, 0.03, 0.024, 0), 0.072) << "the bare interval; 5 % and two standard errors";
}

TEST(ComparePaired, finds_a_three_percent_slow_down_over_uneven_sessions) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    found +=
        compare_paired(with_turns(seed, 10, 0.03, 0.014, 1.03), Objective::latency, 0.02).verdict == Verdict::slower;
  EXPECT_GE(found, 180);
}

TEST(ComparePaired, what_is_known_of_sessions_helps_where_four_pairs_of_them_are_all_there_is) {
  int found = 0;
  int found_by_themselves = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto measurement = with_turns(seed, 4, 0.03, 0.014, 1.03);
    const auto is_slower = [&](double known) {
      return compare_paired(measurement, Objective::latency, 0.02, known).verdict == Verdict::slower;
    };
    found += is_slower(kGpuSessionStdev);
    found_by_themselves += is_slower(0);
  }
  EXPECT_GE(found, 140);
  EXPECT_LT(found_by_themselves, found - 20);
}

TEST(ComparePaired, sessions_that_differ_more_than_others_did_are_believed) {
  const auto width = [](double session_stdev) {
    const auto judged =
        compare_paired(with_turns(5, 8, 0.03, session_stdev), Objective::latency, 0.02, kGpuSessionStdev);
    return std::log(judged.high / judged.low);
  };
  EXPECT_GT(width(0.08), 2 * width(0.02));
}

TEST(ComparePaired, what_the_order_of_making_does_is_not_in_the_interval_of_turned_rounds) {
  const auto with = compare_paired(with_turns(3, 6, 0.03, 0), Objective::latency, 0.02);
  const auto without = compare_paired(with_turns(3, 6, 0, 0), Objective::latency, 0.02);
  EXPECT_NEAR(with.high - with.low, without.high - without.low, 0.0005);
  EXPECT_NEAR(with.ratio, without.ratio, 0.0005);
  EXPECT_EQ(compare_paired(with_turns(3, 6, 0.03, 0.003, 1.03), Objective::latency, 0.02).verdict, Verdict::slower);
}

TEST(ComparePaired, rounds_of_unequal_length_count_alike) {
  auto measurement = with_turns(3, 2, 0.05, 0);
  measurement.blocks.resize(measurement.blocks.size() - 16);
  EXPECT_NEAR(compare_paired(measurement, Objective::latency, 0.02).ratio, 1, 0.012);
}

TEST(ComparePaired, sessions_that_were_there_before_have_no_allowance) {
  auto measurement = with_turns(3, 1, 0, 0);
  const auto made = compare_paired(measurement, Objective::latency, 0.02);
  measurement.rounds = 0;
  const auto given = compare_paired(measurement, Objective::latency, 0.02);
  EXPECT_GT(made.high - made.low, 2 * 1.96 * std::hypot(std::sqrt(2.0) * stats::kRunToRunStdev, stats::kOrderStdev));
  EXPECT_LT(given.high - given.low, 0.04);
}

TEST(ComparePaired, one_abba_round_in_whose_midst_the_machine_changed_its_pace_does_not_speak_for_its_round) {
  auto measurement = with_turns(5, 4, 0, 0.002);
  for (double& latency : measurement.blocks[4].latency_ns) latency *= 1.5;
  const auto judged = compare_paired(measurement, Objective::latency, 0.02);
  EXPECT_NEAR(judged.ratio, 1, 0.01);
  EXPECT_LT(judged.high - judged.low, 0.03);
}

TEST(ComparePaired, tails_of_sessions_that_differ_are_uncertain_too) {
  const auto judged = compare_paired(with_sessions(5, 10, 0.02, 0, 1), Objective::p99, 0.02);
  EXPECT_GT(judged.high - judged.low, 0.015);
  EXPECT_LT(judged.low, 1.0);
  EXPECT_GT(judged.high, 1.0);
}

TEST(IsAsGood, is_not_shown_in_a_slow_stretch_nor_beside_other_processes) {
  schema::TunedPair pair;
  EXPECT_FALSE(is_as_good(pair, 0.02));
  pair.comparison = schema::Comparison{1, 0.995, 1.005, 0.9, 12, schema::Verdict::no_difference};
  EXPECT_TRUE(is_as_good(pair, 0.02));
  EXPECT_FALSE(is_as_good(pair, 0.001)) << "by the bad end of the interval";
  for (const auto code : {schema::kSlowStretch, schema::kOthersThroughout}) {
    pair.flags = {{schema::FlagLevel::notice, std::string(code), fakes::legacy("2 times slower")}};
    EXPECT_FALSE(is_of_quiet_machine(pair)) << code;
    EXPECT_FALSE(is_as_good(pair, 0.02)) << code;
  }
}

TEST(BoundText, claims_a_direction_only_with_the_bound_that_shows_it) {
  const schema::Comparison slower{0.3, 0.1, 0.42, 0.001, 4, schema::Verdict::slower};
  const schema::Comparison unknown{0.3, 0.1, 1.2, 0.2, 4, schema::Verdict::inconclusive};
  ASSERT_TRUE(is_too_wide(slower) && is_too_wide(unknown));
  EXPECT_TRUE(has_bound(slower));
  EXPECT_FALSE(has_bound(unknown));
  EXPECT_EQ(bound_text(slower, "times as fast"), "at most 0.42 times as fast (too few measurements for a ratio)");
  EXPECT_EQ(fakes::text_of(gain_of(slower)), "at most 0.42× as fast (too few measurements for a ratio)");
  EXPECT_EQ(fakes::text_of(gain_of(unknown)), "not comparable (too few measurements for a ratio)");
}

}  // namespace
}  // namespace ridgeline::analysis
