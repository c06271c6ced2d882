// SPDX-License-Identifier: Apache-2.0
#include "analysis/findings.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "tune_run_builder.hpp"

namespace ridgeline::analysis {
namespace {

using schema::FlagLevel;
using schema::TrialStatus;
using schema::Verdict;

std::vector<Finding> of_kind(const TuneRunBuilder& builder, FindingKind kind) {
  auto findings = find_all(builder.run, builder.outcomes);
  findings.erase(std::remove_if(findings.begin(), findings.end(), [&](const auto& one) { return one.kind != kind; }),
                 findings.end());
  return findings;
}

/// The finding whose title starts so; a failure names all titles.
Finding titled(const TuneRunBuilder& builder, const std::string& start) {
  std::string titles;
  for (const auto& finding : find_all(builder.run, builder.outcomes)) {
    if (fakes::text_of(finding.title).rfind(start, 0) == 0) return finding;
    titles += "\n  " + fakes::text_of(finding.title);
  }
  ADD_FAILURE() << "no finding starts with \"" << start << "\" among:" << titles;
  return {};
}

bool says(const TuneRunBuilder& builder, const std::string& part) {
  const auto findings = find_all(builder.run, builder.outcomes);
  return std::any_of(findings.begin(), findings.end(),
                     [&](const auto& one) { return fakes::text_of(one.title).find(part) != std::string::npos; });
}

schema::Comparison comparison(double ratio, Verdict verdict) {
  return {.ratio = ratio,
          .low = ratio * 0.99,
          .high = ratio * 1.01,
          .p_value = 0.001,
          .abba_rounds = 12,
          .verdict = verdict};
}

TEST(Findings, of_an_empty_run_are_none) { EXPECT_TRUE(find_all({}, {}).empty()); }

schema::SpeedReading reading_of_ms(double at_s, double ms) { return {at_s, ms * 1e6, ms * 0.99e6, ms * 1.01e6}; }

TEST(Findings, tell_when_the_machine_was_slow_by_how_much_and_why) {
  TuneRunBuilder builder;
  builder.add({}, 8e6, 0);
  builder.run.duration_s = 100;
  auto& speed = builder.run.speed.emplace();
  speed.taken_again = 7;
  speed.tracks = {{"cpu", {}}};
  for (int at_s = 0; at_s <= 90; at_s += 5)
    speed.tracks[0].readings.push_back(reading_of_ms(at_s, at_s >= 20 && at_s < 40 ? 16 : 8));
  schema::TunedPair pair;
  pair.flags = {
      {FlagLevel::info, "others_at_times", fakes::legacy("other processes took 1.0 CPUs from 3 of 12 ABBA rounds")}};
  builder.run.pairs = {pair};
  const auto finding =
      titled(builder, "the machine's speed varied: work took up to 2.0× as long, so 7 trials were measured again");
  EXPECT_EQ(finding.kind, FindingKind::quality);
  EXPECT_NE(fakes::text_of(finding.evidence).find("2.0× from 20 to 40 s, by 19 timings"), std::string::npos)
      << fakes::text_of(finding.evidence);
  EXPECT_NE(fakes::text_of(finding.evidence).find("took 1.0 CPUs"), std::string::npos)
      << fakes::text_of(finding.evidence);
  EXPECT_NE(fakes::text_of(finding.advice).find("corrected for it"), std::string::npos)
      << fakes::text_of(finding.advice);
  for (auto& one : speed.tracks[0].readings)
    if (one.at_s >= 10) one = reading_of_ms(one.at_s, 16);
  const auto never = titled(builder, "the machine's speed varied");
  EXPECT_NE(fakes::text_of(never.advice).find("It was slow for 90 % of the run: only what side-by-side comparisons"),
            std::string::npos)
      << fakes::text_of(never.advice);
  for (auto& one : speed.tracks[0].readings) one = reading_of_ms(one.at_s, 8.1);
  EXPECT_FALSE(says(builder, "speed varied"));
}

TEST(Findings, state_the_gain_with_interval_and_trials) {
  TuneRunBuilder builder;
  builder.run.id = "r1";
  builder.add({}, 8e6, 0);
  builder.add({{"intra_op_num_threads", 4}}, 4e6, 0);
  builder.run.verdict.emplace();
  builder.run.verdict->decision = schema::Decision::change;
  builder.run.verdict->configuration = {{"intra_op_num_threads", 4}};
  builder.run.verdict->trial_id = 2;
  builder.run.verdict->gain = comparison(2, Verdict::faster);
  const auto gain = titled(builder, "intra_op_num_threads=4 is 2.00× as fast as the current configuration");
  EXPECT_EQ(gain.kind, FindingKind::gain);
  EXPECT_EQ(fakes::text_of(gain.evidence),
            "ratio 2.000, 95 % interval 1.980 to 2.020, 12 interleaved ABBA rounds; "
            "median 4.00 ms (trial 2) against 8.00 ms (trial 1)");
  EXPECT_EQ(fakes::text_of(gain.advice), "Apply it with: ridgeline apply r1 --config FILE");
  builder.run.verdict->decision = schema::Decision::keep;
  titled(builder, "Keep what you have: nothing tried beats it by 2 % or more");
  builder.run.verdict->decision = schema::Decision::none;
  titled(builder, "No recommendation");
}

TEST(Findings, name_all_that_the_recommendation_changes_values_back_at_their_default_too) {
  TuneRunBuilder builder;
  builder.run.current = {{"graph_optimization_level", "basic"}, {"intra_op_num_threads", 1}};
  builder.add(builder.run.current, 8e6, 0);
  builder.add({{"dynamic_block_base", 4}}, 2e6, 0);
  auto& verdict = builder.run.verdict.emplace();
  verdict.decision = schema::Decision::change;
  verdict.configuration = {{"dynamic_block_base", 4}};
  verdict.trial_id = 2;
  verdict.gain = comparison(4, Verdict::faster);
  titled(builder,
         "dynamic_block_base=4, graph_optimization_level=all (default) and intra_op_num_threads=0 (default) together "
         "are 4.00× as fast as the current configuration");
  verdict.configuration = verdict.configuration.with("execution_mode", "parallel")
                              .with("enable_mem_pattern", false)
                              .with("inter_op_num_threads", 2);
  titled(builder, "Trial 2, which changes 6 settings, is 4.00× as fast as the current configuration");
  verdict.configuration = {};
  verdict.gain.reset();
  titled(builder,
         "graph_optimization_level=all (default) and intra_op_num_threads=0 (default) together are "
         "a configuration that runs; nothing was compared");
}

TEST(Findings, claim_no_recommendation_and_no_failure_where_the_finalists_were_never_compared) {
  TuneRunBuilder builder;
  builder.add({}, 8e6, 0).flags = {{FlagLevel::notice, "not_steady", fakes::legacy("m")}};
  auto& verdict = builder.run.verdict.emplace();
  verdict.trial_id = 1;
  builder.run.interrupted = true;
  verdict.reason = fakes::legacy("interrupted before the finalists were compared");
  const auto finding = titled(builder, "No recommendation: the finalists were not compared");
  EXPECT_EQ(fakes::text_of(finding.evidence), "interrupted before the finalists were compared");
  EXPECT_EQ(fakes::text_of(finding.advice), "Run the same command again: it continues where it stopped");
  EXPECT_FALSE(says(builder, "the recommended one among them"));
  builder.run.interrupted = false;  // then the reason says what to do
  EXPECT_EQ(fakes::text_of(titled(builder, "No recommendation: the finalists were not compared").advice), "");
  titled(builder, "1 of 1 trials did not settle during warm-up, the best one among them");
}

TEST(Findings, do_not_say_that_nothing_tried_was_better_where_nothing_else_was_tried) {
  TuneRunBuilder builder;
  builder.add({}, 8e6, 0);
  auto& verdict = builder.run.verdict.emplace();
  verdict.decision = schema::Decision::keep;
  verdict.trial_id = 1;
  verdict.reason = fakes::legacy("nothing beat it");
  EXPECT_EQ(fakes::text_of(titled(builder, "Not decided: no other configuration was tried").evidence),
            "only the current configuration was measured");
}

/// A run that keeps what it has after one finalist came to this.
TuneRunBuilder kept_after(const schema::Comparison& comparison) {
  TuneRunBuilder builder;
  builder.add({}, 8e6, 0);
  builder.add({{"intra_op_num_threads", 4}}, 7e6, 0);
  auto& verdict = builder.run.verdict.emplace();
  verdict.decision = schema::Decision::keep;
  verdict.trial_id = 1;
  verdict.reason = fakes::legacy("keep what you have: nothing beat it by 2 %; more");
  schema::TunedPair pair;
  pair.b = builder.run.trials.back().configuration;
  pair.comparison = comparison;
  builder.run.pairs.push_back(pair);
  return builder;
}

TEST(Findings, say_keep_once) {
  const auto builder = kept_after({1.006, 0.997, 1.015, 0.2, 12, Verdict::no_difference});
  const auto finding = titled(builder, "Keep what you have: nothing tried beats it by 2 % or more");
  EXPECT_EQ(fakes::text_of(finding.evidence),
            "the best alternative, trial 2: ratio 1.006, 95 % interval 0.997 to 1.015");
  auto none = builder;
  none.run.pairs.clear();
  EXPECT_EQ(fakes::text_of(titled(none, "Keep what you have: nothing tried beats it").evidence),
            "no other configuration came close");
}

TEST(Findings, do_not_call_undecided_what_cannot_be_a_gain) {
  titled(kept_after({0.97, 0.93, 1.011, 0.2, 12, Verdict::inconclusive}), "Keep what you have: nothing tried beats it");
}

TEST(Findings, call_nothing_the_best_other_one_that_is_slower) {
  const auto finding = titled(kept_after({0.72, 0.7, 0.74, 1e-9, 12, Verdict::slower}), "Keep what you have");
  EXPECT_EQ(fakes::text_of(finding.evidence), "trial 2: ratio 0.720, 95 % interval 0.700 to 0.740");
}

/// Slow for a while, and with all that can be said about that.
TuneRunBuilder on_an_uneven_machine() {
  TuneRunBuilder builder;
  builder.add({}, 5e6).flags = {{FlagLevel::notice, "not_steady", fakes::legacy("a")},
                                {FlagLevel::notice, "disturbed", fakes::legacy("b")}};
  builder.add({{"execution_mode", "parallel"}}, 9e6).flags = {{FlagLevel::notice, "wide_interval", fakes::legacy("c")}};
  builder.add({{"enable_mem_pattern", false}}, 5e6, 0.001).flags = {{FlagLevel::notice, "drift", fakes::legacy("d")}};
  builder.add({{"intra_op_num_threads", 1}}, 5.5e6, 0);
  builder.add({{"intra_op_num_threads", 2}}, 5e6, 0);
  builder.add({{"intra_op_num_threads", 4}}, 12e6, 0);
  builder.run.environment.logical_cpus = 2;
  builder.run.environment.usable_cpus = builder.run.environment.physical_cores = 1;
  builder.run.environment.load_average = 2;
  builder.run.duration_s = 100;
  schema::TunedPair pair;
  pair.flags = {{FlagLevel::notice, "others_throughout", fakes::legacy("e")}};
  builder.run.pairs = {pair};
  auto& speed = builder.run.speed.emplace();
  speed.tracks = {{"cpu", {}}};
  for (int at_s = 0; at_s <= 90; at_s += 5)
    speed.tracks[0].readings.push_back(reading_of_ms(at_s, at_s >= 20 && at_s < 40 ? 16 : 8));
  return builder;
}

TEST(Findings, say_once_that_the_machine_was_busy_and_uneven) {
  const auto builder = on_an_uneven_machine();
  EXPECT_EQ(of_kind(builder, FindingKind::quality).size(), 1U);
  const auto finding = titled(builder, "the machine's speed varied: work took up to 2.0× as long");
  for (const auto* other : {"the machine was busy when the run started", "1 of 6 trials did not settle during warm-up",
                            "1 of 6 trials ended with a wide interval", "were disturbed by other processes",
                            "drifted while they were timed", "1 of 1 comparisons were disturbed"})
    EXPECT_NE(fakes::text_of(finding.evidence).find(other), std::string::npos) << fakes::text_of(finding.evidence);
  auto even = builder;
  even.run.speed.reset();
  EXPECT_EQ(of_kind(even, FindingKind::quality).size(), 1U) << "a busy one is one finding as well";
}

TEST(Findings, do_not_rest_on_trials_of_different_moments_of_an_uneven_machine) {
  auto builder = on_an_uneven_machine();
  const auto of_trials = [&] {
    return std::vector<bool>{says(builder, "execution_mode=parallel made it"),
                             says(builder, "No difference beyond noise"), says(builder, "Threads do not scale"),
                             says(builder, "More threads than usable CPUs")};
  };
  EXPECT_EQ(of_trials(), std::vector<bool>(4, false));
  builder.run.speed.reset();
  EXPECT_EQ(of_trials(), std::vector<bool>(4, true));
}

TEST(Findings, say_where_a_wide_interval_left_it_undecided) {
  const auto finding = titled(kept_after({1.555, 0.917, 2.636, 0.2, 8, Verdict::inconclusive}),
                              "Not decided whether trial 2 beats the current configuration");
  EXPECT_EQ(fakes::text_of(finding.evidence), "too few measurements for a ratio: too wide to decide");
  EXPECT_EQ(fakes::text_of(finding.advice), "Repeat with --fresh on an idle machine or with more time");
}

TEST(Findings, tell_what_each_setting_of_the_winner_contributes) {
  TuneRunBuilder builder;
  const schema::Configuration winner{
      {"batch_size", 8}, {"dynamic_block_base", 4}, {"enable_mem_pattern", false}, {"intra_op_num_threads", 4}};
  builder.run.verdict.emplace();
  builder.run.verdict->configuration = winner;
  builder.add(winner, 4e6);
  const auto leave_out = [&](const std::string& key, double ratio, Verdict verdict) {
    schema::TunedPair pair;
    pair.purpose = schema::PairPurpose::leave_one_out;
    pair.setting = key;
    pair.a = winner;
    pair.b = winner.without(key);
    pair.comparison = comparison(ratio, verdict);
    builder.run.pairs.push_back(pair);
  };
  leave_out("intra_op_num_threads", 0.5, Verdict::slower);  // without it the winner is slower
  leave_out("dynamic_block_base", 1.0, Verdict::no_difference);
  leave_out("enable_mem_pattern", 1.05, Verdict::faster);  // without it the winner is faster
  leave_out("batch_size", 1.01, Verdict::inconclusive);
  const auto threads = titled(builder, "intra_op_num_threads=4 makes the best finalist (trial 1) 2.00× as fast");
  EXPECT_EQ(threads.kind, FindingKind::gain);
  EXPECT_NE(fakes::text_of(threads.evidence).find("ratio 2.000, 95 % interval 1.980 to 2.020"), std::string::npos)
      << fakes::text_of(threads.evidence);
  EXPECT_EQ(titled(builder, "dynamic_block_base=4 adds nothing to the best finalist (trial 1)").kind,
            FindingKind::no_effect);
  EXPECT_EQ(titled(builder, "enable_mem_pattern=false makes the best finalist (trial 1) 5.0 % slower").kind,
            FindingKind::harmful);
  EXPECT_EQ(titled(builder,
                   "What batch_size=8 contributes to the best finalist (trial 1) could not be distinguished from noise")
                .kind,
            FindingKind::quality);
  // A setting that is not in the recommendation any more says so.
  builder.run.verdict->configuration = winner.without("dynamic_block_base");
  EXPECT_EQ(fakes::text_of(titled(builder, "dynamic_block_base=4 adds nothing").evidence).find("dropped"),
            std::string::npos)
      << "an interrupted run recommends nothing";
  builder.run.verdict->decision = schema::Decision::change;
  EXPECT_NE(fakes::text_of(titled(builder, "dynamic_block_base=4 adds nothing").evidence).find("dropped"),
            std::string::npos);
  EXPECT_EQ(fakes::text_of(titled(builder, "intra_op_num_threads=4").evidence).find("dropped"), std::string::npos);
  // What helped only beside something that is not recommended either is no gain to boast of.
  builder.run.verdict->configuration = winner.without("intra_op_num_threads");
  EXPECT_EQ(titled(builder,
                   "intra_op_num_threads=4 makes the best finalist (trial 1) 2.00× as fast, but only together "
                   "with settings that were dropped")
                .kind,
            FindingKind::no_effect);
}

TEST(Findings, name_the_harmful_setting_and_those_without_effect) {
  TuneRunBuilder builder;
  builder.add({}, 5e6);
  builder.add({{"execution_mode", "parallel"}}, 9e6);
  builder.add({{"enable_mem_pattern", false}}, 5e6, 0.001);
  builder.add({{"dynamic_block_base", 4}}, 5e6, 0.001);
  builder.add({{"intra_op_num_threads", 2}}, 2.5e6);
  const auto harm = titled(builder, "execution_mode=parallel made it 1.80× as slow (trial 2)");
  EXPECT_EQ(harm.kind, FindingKind::harmful);
  EXPECT_NE(fakes::text_of(harm.evidence).find("trial 2 against trial 1"), std::string::npos);
  const auto idle = titled(builder, "No difference beyond noise on its own: dynamic_block_base and enable_mem_pattern");
  EXPECT_EQ(idle.kind, FindingKind::no_effect);
  EXPECT_NE(fakes::text_of(idle.evidence).find("enable_mem_pattern=false 1.0"), std::string::npos)
      << fakes::text_of(idle.evidence);
}

TEST(Findings, say_that_threads_do_not_scale) {
  TuneRunBuilder builder;
  builder.add({{"intra_op_num_threads", 1}}, 5.5e6, 0);
  builder.add({{"intra_op_num_threads", 2}}, 5e6, 0);
  const auto finding = titled(builder, "Threads do not scale: 2 threads are 1.1× as fast as 1");
  EXPECT_EQ(finding.kind, FindingKind::limit);
  EXPECT_EQ(fakes::text_of(finding.evidence), "1 thread 5.50 ms (trial 1), 2 threads 5.00 ms (trial 2)");
  TuneRunBuilder good;
  good.add({{"intra_op_num_threads", 1}}, 5e6, 0);
  good.add({{"intra_op_num_threads", 2}}, 2.7e6, 0);
  EXPECT_FALSE(says(good, "Threads do not scale"));
}

TEST(Findings, warn_of_more_threads_than_cpus) {
  TuneRunBuilder builder;
  builder.run.environment.usable_cpus = 4;
  builder.run.environment.physical_cores = 4;
  builder.run.current = {{"intra_op_num_threads", 8}};
  builder.add({{"intra_op_num_threads", 8}}, 12e6, 0);
  builder.add({{"intra_op_num_threads", 4}}, 4e6, 0);
  titled(builder, "The current configuration asks for 8 threads on 4 usable CPUs");
  EXPECT_EQ(titled(builder, "More threads than usable CPUs were up to 3.00× as slow, compared with trial 2").kind,
            FindingKind::harmful);
  builder.run.provider = "cuda";
  EXPECT_FALSE(says(builder, "usable CPUs"));
}

TEST(Findings, set_the_speed_against_the_models_arithmetic) {
  TuneRunBuilder builder;
  builder.add({}, 10e6, 0);
  builder.run.model.flops = 2e9;
  builder.run.model.min_bytes = 40e6;
  const auto compute = titled(builder, "Arithmetic is the likely limit: 50 FLOP per byte moved");
  EXPECT_NE(fakes::text_of(compute.evidence).find("200 GFLOP/s and up to 4 GB/s reached in trial 1"), std::string::npos)
      << fakes::text_of(compute.evidence);
  builder.run.model.flops = 8e7;
  titled(builder, "Memory traffic is the likely limit: only 2.0 FLOP per byte moved");
  builder.run.model.nodes = 10000;
  titled(builder, "Nodes are tiny: 1.00 µs each");
  builder.run.model.node_counts = {{"Constant", 6000}, {"Conv", 4000}};
  EXPECT_EQ(fakes::text_of(titled(builder, "Nodes are tiny: 2.50 µs each").evidence),
            "median 10.0 ms over 4000 nodes of the file without its constants, some of which fusion may have removed "
            "(trial 1)");
  builder.run.runtime_graphs = {{"extended", 5000, 20e6, ""}};
  EXPECT_EQ(fakes::text_of(titled(builder, "Nodes are tiny: 2.00 µs each").evidence),
            "median 10.0 ms over 5000 nodes that run (trial 1)");
  EXPECT_NE(fakes::text_of(titled(builder, "Memory traffic is the likely limit: only 4.0 FLOP").evidence)
                .find("about 19.1 MiB per"),
            std::string::npos);
}

TEST(Findings, take_the_rate_from_the_measured_throughput) {
  TuneRunBuilder builder;
  auto& measurement = builder.add({}, 10e6, 0);
  measurement.concurrency = 2;
  measurement.wall_ns *= 0.625;  // two callers that get in each other's way: 1.6 times one
  builder.run.model.flops = 2e9;
  builder.run.model.min_bytes = 40e6;
  const auto finding = titled(builder, "Arithmetic is the likely limit");
  EXPECT_NE(fakes::text_of(finding.evidence).find("320 GFLOP/s and up to 6.4 GB/s reached in trial 1"),
            std::string::npos)
      << fakes::text_of(finding.evidence);
}

TEST(Findings, scale_the_arithmetic_with_the_batch_of_the_trial) {
  TuneRunBuilder builder;
  builder.add({{"batch_size", 8}}, 10e6, 0);
  builder.run.model.flops = 1e9;
  builder.run.model.min_bytes = 1e8;
  builder.run.model.batch_axis_size = 2;
  EXPECT_NE(fakes::text_of(titled(builder, "Arithmetic and memory").evidence).find("400 GFLOP/s"), std::string::npos);
}

TEST(Findings, notice_spikes_in_the_recommended_trial) {
  TuneRunBuilder builder;
  auto& measurement = builder.add({}, 1e6, 0);
  EXPECT_FALSE(says(builder, "spikes"));
  for (std::size_t i = 0; i < 40; ++i) measurement.latency_ns[i * 50] = 5e6;
  titled(builder, "Latency has spikes: p99 is 5.0 times the median (trial 1)");
}

TEST(Findings, group_quality_flags_and_mark_the_recommended_trial) {
  TuneRunBuilder builder;
  builder.add({}, 1e6).flags = {
      {FlagLevel::notice, "not_steady", fakes::legacy("still 4 % faster at the end of warm-up")}};
  builder.add({{"batch_size", 2}}, 2e6).flags = {
      {FlagLevel::notice, "not_steady", fakes::legacy("other")},
      {FlagLevel::info, "time_budget", fakes::legacy("not worth a finding")}};
  builder.add({{"batch_size", 4}}, 3e6);
  const auto flag = titled(builder, "2 of 3 trials did not settle during warm-up, the best one among them");
  EXPECT_EQ(flag.kind, FindingKind::quality);
  EXPECT_EQ(fakes::text_of(flag.evidence), "trials 1 and 2; still 4 % faster at the end of warm-up");
  EXPECT_FALSE(says(builder, "time_budget"));
  auto& verdict = builder.run.verdict.emplace();
  verdict.decision = schema::Decision::keep;
  verdict.trial_id = 1;
  titled(builder, "2 of 3 trials did not settle during warm-up, the recommended one among them");
}

TEST(Findings, report_settings_that_did_not_take_effect) {
  TuneRunBuilder builder;
  builder.add({{"dynamic_block_base", 4}, {"intra_op_allow_spinning", false}, {"intra_op_num_threads", 0}}, 1e6)
      .effective_settings = {
      {"dynamic_block_base", "0"}, {"intra_op_allow_spinning", "0"}, {"intra_op_num_threads", "2"}};
  const auto finding = titled(builder, "dynamic_block_base=4 did not take effect: the runtime used 0");
  EXPECT_EQ(fakes::text_of(finding.evidence), "read back in trial 1");
  EXPECT_EQ(of_kind(builder, FindingKind::quality).size(), 1U);
}

TEST(Findings, doubt_a_busy_or_throttled_machine) {
  TuneRunBuilder builder;
  builder.add({}, 1e6);
  builder.run.environment.logical_cpus = 8;
  builder.run.environment.affinity = {0, 1, 2, 3};
  builder.run.environment.load_average = 1;
  EXPECT_TRUE(of_kind(builder, FindingKind::quality).empty());
  builder.run.environment.load_average = 6;
  builder.run.environment.governor = "powersave";
  builder.run.environment.cgroup_cpu_quota = 1.5;
  titled(builder, "the machine was busy when the run started");
  titled(builder, "CPU clocks follow the load: governor powersave");
  titled(builder, "A container quota of 1.5 CPUs throttles the process");
}

TEST(Findings, group_failures_by_cause_and_name_the_setting_behind_them) {
  TuneRunBuilder builder;
  builder.add({}, 1e6);
  builder.add_failed({{"batch_size", 64}, {"execution_mode", "parallel"}}, TrialStatus::out_of_memory,
                     "allocating 512 bytes failed");
  builder.add_failed({{"batch_size", 128}, {"execution_mode", "parallel"}}, TrialStatus::out_of_memory,
                     "allocating 1024 bytes failed");
  builder.add_failed({{"dynamic_block_base", 3}}, TrialStatus::unsupported, "no kernel for Foo");
  EXPECT_EQ(of_kind(builder, FindingKind::failure).size(), 2U);
  const auto memory = titled(builder, "2 configurations ran out of memory, and only with execution_mode=parallel");
  EXPECT_EQ(fakes::text_of(memory.evidence), "trials 2 and 3: allocating 512 bytes failed");
  EXPECT_FALSE(memory.advice.empty());
  titled(builder, "1 configuration is not supported by this runtime");
}

TEST(Findings, tell_what_a_trial_without_memory_found_on_the_gpu) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  TuneRunBuilder builder;
  builder.add({}, 1e6);
  for (const int batch : {64, 128}) builder.add_failed({{"batch_size", batch}}, TrialStatus::out_of_memory, "no room");
  const std::string title = "2 configurations ran out of memory";
  EXPECT_EQ(fakes::text_of(titled(builder, title).evidence), "trials 2 and 3: no room");
  auto& gpu = builder.outcomes["k3"].failure->gpu.emplace();
  gpu.memory_free_before_bytes = 10 * kGib;
  gpu.device_used_before_bytes = 130 * kGib;
  const auto alone = titled(builder, title);
  EXPECT_EQ(fakes::text_of(alone.evidence), "trials 2 and 3: no room; trial 3: 10.0 GiB of 140 GiB were free before");
  EXPECT_EQ(fakes::text_of(alone.advice).find("other processes"), std::string::npos) << fakes::text_of(alone.advice);
  gpu.neighbours_before = {{12, std::nullopt}, {4711, 128 * kGib}};
  builder.outcomes["k3"].failure->flags = {
      {FlagLevel::notice, "gpu_memory_not_released", fakes::legacy("200 MB were missing")}};
  const auto beside = titled(builder, title);
  EXPECT_EQ(fakes::text_of(beside.evidence),
            "trials 2 and 3: no room; trial 3: 10.0 GiB of 140 GiB were free before; process 4711 used 128 GiB and "
            "process 12 was there; 200 MB were missing");
  EXPECT_NE(fakes::text_of(beside.advice).find("other processes"), std::string::npos) << fakes::text_of(beside.advice);
}

TEST(Findings, name_the_memory_limit_that_was_too_tight) {
  TuneRunBuilder builder;
  builder.add({}, 1e6);
  builder.add_failed({{"gpu_mem_limit_gb", 0.5}}, TrialStatus::out_of_memory, "allocating 512 bytes failed");
  builder.add_failed({{"gpu_mem_limit_gb", 2}, {"batch_size", 8}}, TrialStatus::out_of_memory,
                     "allocating 1024 bytes failed");
  builder.add_failed({{"gpu_mem_limit_gb", 4}}, TrialStatus::crashed, "SIGSEGV");
  EXPECT_EQ(fakes::text_of(titled(builder, "2 configurations ran out of memory").advice)
                .find("Raise gpu_mem_limit_gb=2 or leave"),
            0U);
  EXPECT_EQ(fakes::text_of(titled(builder, "1 configuration crashed").advice).find("gpu_mem_limit_gb"),
            std::string::npos);
}

TEST(Findings, explain_an_accuracy_rejection_by_its_drift) {
  TuneRunBuilder builder;
  builder.run.accuracy_tolerance = 1e-3;
  builder.add({{"graph_optimization_level", "all"}}, 1e6);
  auto& outcome = builder.outcomes["k1"];
  outcome.status = TrialStatus::rejected_accuracy;
  outcome.output_error.emplace();
  outcome.output_error->scaled_max_abs = 0.5;
  outcome.output_error->worst_output = "y";
  const auto finding = titled(builder, "1 configuration changed the outputs beyond the tolerance");
  EXPECT_NE(fakes::text_of(finding.evidence).find("scaled error 0.5 in output \"y\", allowed 0.001"), std::string::npos)
      << fakes::text_of(finding.evidence);
}

TEST(Findings, are_the_same_for_the_same_records) {
  TuneRunBuilder builder;
  builder.add({}, 5e6);
  builder.add({{"execution_mode", "parallel"}}, 9e6);
  const auto first = find_all(builder.run, builder.outcomes);
  const auto again = find_all(builder.run, builder.outcomes);
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].evidence, again[i].evidence);
}

}  // namespace
}  // namespace ridgeline::analysis
