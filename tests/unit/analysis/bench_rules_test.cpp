// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_rules.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AmpMode;
using schema::DataMode;
using schema::TrainingSettings;

/// Trials of a loader whose workers' CPU time counts, by `workers`.
class LoaderTrials {
 public:
  explicit LoaderTrials(TrainingSettings base) : base_(base) {}
  /// `cpu_each`: CPUs that each worker used or waited for.
  LoaderTrials& add(DataMode data, int workers, double rate, double cpu_each = 0) {
    schema::BenchTrial trial;
    trial.id = static_cast<int>(run_.trials.size()) + 1;
    trial.settings = base_;
    trial.settings.workers = workers;
    trial.data = data;
    auto& seen = trial.outcome.measurement.emplace();
    seen.samples_per_s = {rate, rate, rate};
    seen.phases.wall_ms.value = 1;
    seen.resources.loader_cpu_s = 2 * workers * cpu_each;
    seen.resources.loader_wall_s = 2 * workers;
    run_.trials.push_back(std::move(trial));
    return *this;
  }
  [[nodiscard]] std::vector<schema::BenchFinding> findings(double cores) const {
    return diagnose_bench(run_, {base_, false, cores, {}});
  }

 private:
  TrainingSettings base_;
  schema::BenchRun run_;
};

// On an H200's 16 CPUs, 12 and 24 busy threads in each of 4 workers were called decode_bound.
TEST(BenchRules, threads_within_the_workers_are_oversubscription_and_not_decoding) {
  auto trials = LoaderTrials({16, 4, AmpMode::bf16, true})
                    .add(DataMode::loader, 4, 748, 10)
                    .add(DataMode::host, 4, 5171)
                    .add(DataMode::loader, 8, 881, 12.7)
                    .add(DataMode::loader_only, 4, 741, 10.3)
                    .add(DataMode::device, 4, 4937);
  const auto found = trials.findings(16);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().code, "cpu_oversubscribed");
  EXPECT_NE(fakes::text_of(found.front().evidence)
                .find("4 workers would use 10.0 CPUs each, 40 in total, but only 16 can be used"),
            std::string::npos)
      << fakes::text_of(found.front().evidence);
  EXPECT_NE(fakes::text_of(found.front().advice).find("torch.set_num_threads"), std::string::npos);
  EXPECT_NE(fakes::text_of(found.front().advice).find("OMP_NUM_THREADS"), std::string::npos);
  // Fewer workers that are faster are a second way out.
  const auto both = trials.add(DataMode::loader, 2, 1500, 10).findings(16);
  ASSERT_EQ(both.size(), 1U);
  EXPECT_NE(fakes::text_of(both.front().advice).find("num_workers: 2"), std::string::npos);
}

TEST(BenchRules, where_busy_threads_have_cpus_the_loader_is_not_oversubscribed) {
  const auto code = [](double cpu_each, double cores) {
    return LoaderTrials({16, 4, AmpMode::bf16, true})
        .add(DataMode::loader, 4, 748, cpu_each)
        .add(DataMode::host, 4, 5171)
        .add(DataMode::loader_only, 4, 741, cpu_each)
        .add(DataMode::loader, 8, 750, cpu_each)
        .findings(cores)
        .front()
        .code;
  };
  EXPECT_EQ(code(3, 16), "decode_bound");       // 12 CPUs of 16
  EXPECT_EQ(code(3, 6), "cpu_oversubscribed");  // 12 of 6
  EXPECT_EQ(code(1.2, 2), "decode_bound");      // a thread each, and its feeder: the work itself
  EXPECT_EQ(code(10, 0), "decode_bound");       // it is not known how many there are
}

// There, too: 512 KiB to unpack by 2 workers; 4 bring 7 %, since one process cannot take batches any faster.
TEST(BenchRules, more_workers_that_are_not_used_say_that_decoding_is_not_the_limit) {
  const auto found = [](double rate, double cpu_each, double cores) {
    return LoaderTrials({16, 2, AmpMode::bf16, true})
        .add(DataMode::loader, 2, 7484, 1.16)
        .add(DataMode::host, 2, 12316)
        .add(DataMode::loader, 4, rate, cpu_each)
        .add(DataMode::loader_only, 2, 7836, 1.2)
        .findings(cores)
        .front();
  };
  const auto handed_over = found(8022, 0.74, 16);
  EXPECT_EQ(handed_over.code, "undetermined");
  EXPECT_NE(fakes::text_of(handed_over.evidence).find("4 workers change samples/s by +7 % and are busy 74 %"),
            std::string::npos)
      << fakes::text_of(handed_over.evidence);
  EXPECT_EQ(found(8022, 1.0, 16).code, "decode_bound");  // they compute, and get no further
  EXPECT_EQ(found(8022, 0.5, 2).code, "decode_bound");   // no CPUs for them
  EXPECT_EQ(found(12000, 0.74, 16).code, "too_few_workers");
}

bool holds(const schema::Message& message, const std::string& part) {
  return fakes::text_of(message).find(part) != std::string::npos;
}

// On a machine of two CPUs, and on an H200's 16: "there are no CPUs for more workers", of workers that waited 96 %.
TEST(BenchRules, what_was_not_tried_is_said_to_be_not_tried) {
  const auto trials = [](double cpu_each) {
    return LoaderTrials({16, 4, AmpMode::bf16, true})
        .add(DataMode::loader, 4, 100, cpu_each)
        .add(DataMode::host, 4, 1000)
        .add(DataMode::loader_only, 4, 101, cpu_each);
  };
  for (const double cores : {2.0, 16.0}) {
    const auto waits = trials(0.02).findings(cores).front();
    EXPECT_EQ(waits.code, "undetermined");
    EXPECT_TRUE(holds(waits.evidence, "more workers were not tried")) << fakes::text_of(waits.evidence);
    EXPECT_TRUE(holds(waits.evidence, "workers wait 9")) << fakes::text_of(waits.evidence);
    EXPECT_TRUE(holds(waits.advice, "8")) << fakes::text_of(waits.advice);
    EXPECT_FALSE(waits.predicted_gain);
  }
  EXPECT_EQ(trials(1).findings(16).front().code, "undetermined") << "four more CPUs might be all that is missing";
  EXPECT_EQ(trials(0.5).findings(2).front().code, "decode_bound") << "they use both";
}

TEST(BenchRules, workers_that_wait_are_too_few_however_many_cpus_there_are) {
  auto trials = LoaderTrials({16, 4, AmpMode::bf16, true})
                    .add(DataMode::loader, 4, 100, 0.02)
                    .add(DataMode::host, 4, 1000)
                    .add(DataMode::loader, 8, 200, 0.02)
                    .add(DataMode::loader, 16, 390, 0.02);
  const auto found = trials.findings(2).front();
  EXPECT_EQ(found.code, "too_few_workers");
  EXPECT_EQ(fakes::text_of(found.advice), "num_workers: 16");
  EXPECT_TRUE(holds(found.evidence, "more of them than the 2 CPUs help")) << fakes::text_of(found.evidence);
  EXPECT_TRUE(holds(found.evidence, "32 were not tried")) << fakes::text_of(found.evidence);
  const auto ended = trials.add(DataMode::loader, 32, 395, 0.01).findings(2).front();
  EXPECT_EQ(fakes::text_of(ended.advice), "num_workers: 16");
  EXPECT_TRUE(holds(ended.evidence, "32 changed samples/s by +1 %")) << fakes::text_of(ended.evidence);
  EXPECT_TRUE(holds(ended.evidence, "a lock that workers take in turns")) << fakes::text_of(ended.evidence);
}

// One lock for all of them: a second worker brought nothing, and decoding was blamed.
TEST(BenchRules, where_more_workers_wait_and_bring_nothing_a_lock_is_named) {
  const auto computes = LoaderTrials({16, 1, AmpMode::bf16, true})
                            .add(DataMode::loader, 1, 980, 1)
                            .add(DataMode::host, 1, 9000)
                            .add(DataMode::loader_only, 1, 1000, 1)
                            .add(DataMode::loader, 2, 1000, 0.5)
                            .findings(2)
                            .front();
  EXPECT_EQ(computes.code, "undetermined");
  EXPECT_TRUE(holds(computes.evidence, "a lock that workers take in turns")) << fakes::text_of(computes.evidence);
  const auto found = LoaderTrials({16, 2, AmpMode::bf16, true})
                         .add(DataMode::loader, 2, 1000, 0.5)
                         .add(DataMode::host, 2, 9000)
                         .add(DataMode::loader_only, 2, 1000, 0.5)
                         .add(DataMode::loader, 4, 1005, 0.25)
                         .findings(2)
                         .front();
  EXPECT_EQ(found.code, "storage_bound");
  EXPECT_TRUE(holds(found.title, "or a lock")) << fakes::text_of(found.title);
}

/// Trials on a CPU whose steps computed `thread` of the time, and other threads used `others` CPUs.
schema::BenchFinding stepping(double thread, double others, bool counted = true) {
  schema::BenchRun run;
  for (const auto data : {DataMode::loader, DataMode::host, DataMode::device}) {
    auto& trial = run.trials.emplace_back();
    trial.id = static_cast<int>(run.trials.size());
    trial.settings = {64, 0, AmpMode::bf16, false};
    trial.data = data;
    auto& seen = trial.outcome.measurement.emplace();
    seen.samples_per_s = {100, 100, 100};
    seen.phases.wall_ms.value = 640;
    seen.phases.forward_ms.value = 600;
    if (!counted || data == DataMode::loader) continue;
    seen.resources.step_wall_s = 10;
    seen.resources.step_cpu_s = 10 * thread;
    seen.resources.step_others_cpu_s = 10 * others;
  }
  return diagnose_bench(run, {{64, 0, AmpMode::bf16, false}, true, 2, {}}).front();
}

// A step with a sleep in it: "the CPU computes all the time".
TEST(BenchRules, a_step_that_sleeps_does_not_compute) {
  const auto found = stepping(0.08, 0.01);
  EXPECT_EQ(found.code, "step_waits");
  EXPECT_EQ(fakes::text_of(found.title), "the training step waits 92 % of its time");
  EXPECT_TRUE(holds(found.evidence, "Fwd(ms) 600.00 of 640.00 per step")) << fakes::text_of(found.evidence);
  EXPECT_EQ(stepping(0.98, 0.9).code, "cpu_bound");
  EXPECT_EQ(fakes::text_of(stepping(0.98, 0.9).title), "the CPU computes all the time");
  EXPECT_EQ(fakes::text_of(stepping(0.75, 0).title), "the CPU computes 75 % of the time");
  EXPECT_EQ(stepping(0.1, 1.5).code, "undetermined") << "other threads compute";
  EXPECT_EQ(stepping(0, 0, false).code, "undetermined") << "nobody counted";
  EXPECT_TRUE(holds(stepping(0.98, 0).evidence, "not tried under batch 64"))
      << fakes::text_of(stepping(0.98, 0).evidence);
}

schema::BenchRun run_of(const TrainingSettings& base, std::initializer_list<stats::Estimate> rates) {
  schema::BenchRun run;
  for (const auto& rate : rates) {
    auto& trial = run.trials.emplace_back();
    trial.id = static_cast<int>(run.trials.size());
    trial.settings = base;
    trial.outcome.measurement.emplace().samples_per_s = rate;
  }
  return run;
}

TEST(BenchEvidence, two_that_disagree_span_what_both_say_and_a_third_outvotes_one) {
  const TrainingSettings base{64, 4, AmpMode::off, true};
  const auto one = find_evidence(run_of(base, {{2500, 1900, 3600}}), base, DataMode::loader);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->rate, 2500);
  EXPECT_EQ(one->spread, 0);
  const auto two = find_evidence(run_of(base, {{2500, 1900, 3600}, {5000, 4900, 5100}}), base, DataMode::loader);
  EXPECT_EQ(two->rate, 3750);
  EXPECT_EQ(two->low, 1900);
  EXPECT_EQ(two->high, 5100);
  EXPECT_EQ(two->spread, 1);
  auto run = run_of(base, {{5000, 4900, 5100}, {4900, 4800, 5000}, {2500, 1900, 3600}});
  for (auto& trial : run.trials) trial.outcome.measurement->phases.wall_ms.value = trial.id;
  const auto three = find_evidence(run, base, DataMode::loader);
  EXPECT_EQ(three->phases.wall_ms.value, 2) << "of the trial whose rate it is";
  EXPECT_EQ(three->rate, 4900);
  EXPECT_EQ(three->low, 4800);
  EXPECT_EQ(three->high, 5000);
}

TEST(BenchRules, a_base_is_measured_again_before_a_gain_is_believed) {
  const TrainingSettings base{64, 4, AmpMode::off, true};
  const DiagnosisInput input{base, false, 16, {}};
  const auto needs = [&](std::initializer_list<stats::Estimate> rates, double with_amp, bool only_if_noisy) {
    auto run = run_of(base, rates);
    auto amp = run.trials.front();
    amp.id = 10;
    amp.settings.amp = AmpMode::bf16;
    amp.outcome.measurement->samples_per_s = {with_amp, with_amp, with_amp};
    run.trials.push_back(amp);
    return needs_another_base(run, input, only_if_noisy);
  };
  EXPECT_TRUE(needs({{100, 99, 101}}, 150, false));
  EXPECT_FALSE(needs({{100, 99, 101}}, 150, true)) << "it can wait for the last experiment";
  EXPECT_TRUE(needs({{100, 90, 110}}, 150, true));
  EXPECT_FALSE(needs({{100, 90, 110}}, 101, false)) << "nobody promises anything";
  EXPECT_FALSE(needs({{100, 99, 101}, {101, 100, 102}}, 150, false));
  EXPECT_TRUE(needs({{100, 99, 101}, {130, 129, 131}}, 150, false));
  EXPECT_FALSE(needs({{100, 99, 101}, {130, 129, 131}, {131, 130, 132}}, 150, false));
}

TEST(BenchRules, two_measurements_that_disagree_leave_it_open) {
  const TrainingSettings base{64, 4, AmpMode::bf16, true};
  auto run = run_of(base, {{100, 99, 101}, {150, 149, 151}});
  auto host = run.trials.back();
  host.id = 3;
  host.data = DataMode::host;
  run.trials.push_back(host);
  const auto found = diagnose_bench(run, {base, false, 16, {}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().code, "undetermined");
  EXPECT_NE(fakes::text_of(found.front().title).find("two measurements of these settings differ by 50 %"),
            std::string::npos)
      << fakes::text_of(found.front().title);
}

// With 8 workers on an H200's machine pinned memory had not been tried when the time ended.
TEST(BenchRules, crowding_is_not_said_while_copies_have_not_been_looked_into) {
  const TrainingSettings base{64, 8, AmpMode::bf16, false};
  auto run = run_of(base, {{3622, 3486, 3768}});
  run.trials[0].outcome.measurement->phases.wall_ms.value = 17;
  auto host = run.trials[0];
  host.data = DataMode::host;
  host.outcome.measurement->samples_per_s = {5668, 5600, 5700};
  auto alone = run.trials[0];
  alone.data = DataMode::loader_only;
  alone.outcome.measurement->samples_per_s = {18047, 18000, 18100};
  run.trials.insert(run.trials.end(), {host, alone});
  for (std::size_t i = 0; i < 3; ++i) run.trials[i].id = static_cast<int>(i) + 1;
  EXPECT_EQ(diagnose_bench(run, {base, false, 16, {}}).front().code, "cpu_oversubscribed");
  run.trials[0].outcome.measurement->phases.h2d_ms.value = 10;
  EXPECT_EQ(diagnose_bench(run, {base, false, 16, {}}).front().code, "undetermined");
}

}  // namespace
}  // namespace ridgeline::analysis
