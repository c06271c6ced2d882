// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_experiments.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "schema/messages.hpp"

namespace ridgeline::analysis {
namespace {

using schema::AmpMode;
using schema::DataMode;
using schema::TrainingSettings;

constexpr double kCores = 16;
const TrainingSettings kBase{64, 4, AmpMode::off, false};

/// A run that has made trials with these rates.
class Made {
 public:
  Made& add(TrainingSettings settings, DataMode data, double rate, std::int64_t retries = 0) {
    schema::BenchTrial trial;
    trial.id = static_cast<int>(run_.trials.size()) + 1;
    trial.settings = settings;
    trial.data = data;
    trial.outcome.measurement.emplace();
    trial.outcome.measurement->samples_per_s = {rate, rate, rate};
    trial.outcome.measurement->resources.alloc_retries = retries;
    run_.trials.push_back(std::move(trial));
    return *this;
  }
  /// The planned experiments that still matter, as "batch/workers/data".
  [[nodiscard]] LoaderVerdict loader() const { return judge_loader(run_, {kBase, false, kCores, {}}); }
  [[nodiscard]] std::vector<std::string> left() const {
    std::vector<std::string> out;
    for (const auto& one : plan_experiments(kBase, false, kCores)) {
      const bool made = std::any_of(run_.trials.begin(), run_.trials.end(), [&](const auto& trial) {
        return trial.settings == one.settings && trial.data == one.data;
      });
      if (made || one.settings.amp != AmpMode::off || one.settings.pin_memory) continue;
      if (can_matter(one, run_, {kBase, false, kCores, {}}))
        out.push_back(fmt::format("{}/{}/{}", one.settings.batch, one.settings.workers, base::enum_name(one.data)));
    }
    return out;
  }

 private:
  schema::BenchRun run_;
};

using Names = std::vector<std::string>;

TEST(BenchExperiments, without_the_base_nothing_else_matters) { EXPECT_EQ(Made().left(), Names{"64/4/loader"}); }

TEST(BenchExperiments, a_loader_that_keeps_up_is_not_asked_further) {
  EXPECT_EQ(Made().add(kBase, DataMode::loader, 100).add(kBase, DataMode::host, 103).left(),
            (Names{"64/4/device", "128/4/device", "128/4/loader"}));
}

TEST(BenchExperiments, a_slow_loader_is_looked_into) {
  auto made = Made().add(kBase, DataMode::loader, 100).add(kBase, DataMode::host, 140);
  EXPECT_EQ(made.left(),
            (Names{"64/8/loader", "64/4/loader_only", "64/4/device", "128/4/device", "128/4/loader", "64/2/loader"}));
  auto twice = kBase;
  twice.workers = 8;
  auto slow = made;
  EXPECT_EQ(made.add(twice, DataMode::loader, 140).left(), (Names{"64/4/device", "128/4/device", "128/4/loader"}));
  EXPECT_EQ(slow.add(twice, DataMode::loader, 101).left(),
            (Names{"64/4/loader_only", "64/4/device", "128/4/device", "128/4/loader", "64/2/loader"}));
}

TEST(BenchExperiments, where_the_loader_sets_the_pace_a_faster_step_brings_nothing) {
  EXPECT_EQ(Made().add(kBase, DataMode::loader, 100).add(kBase, DataMode::host, 300).left(),
            (Names{"64/8/loader", "64/4/loader_only", "64/4/device", "64/2/loader"}));
}

TEST(BenchExperiments, a_filled_device_needs_no_larger_batch) {
  auto doubled = kBase;
  doubled.batch = 128;
  auto made =
      Made().add(kBase, DataMode::loader, 100).add(kBase, DataMode::host, 100).add(kBase, DataMode::device, 110);
  auto filled = made;
  EXPECT_EQ(filled.add(doubled, DataMode::device, 115).left(), Names{});
  EXPECT_EQ(made.add(doubled, DataMode::device, 150).left(), Names{"128/4/loader"});
}

TEST(BenchExperiments, half_the_batch_is_for_an_allocator_that_starts_over) {
  const auto left = Made().add(kBase, DataMode::loader, 100, 20).add(kBase, DataMode::host, 100).left();
  EXPECT_EQ(left.back(), "32/4/loader");
}

// With 8 workers on an H200's machine copies took 10 of 17 ms, and the time ended before pinned memory was tried.
TEST(BenchExperiments, pinned_memory_comes_early_where_copies_take_time) {
  const auto planned = plan_experiments(kBase, false, kCores);
  ASSERT_GT(planned.size(), 3U);
  EXPECT_TRUE(planned[2].settings.pin_memory);
  schema::BenchRun run;
  run.trials.emplace_back();
  run.trials[0].settings = kBase;
  auto& seen = run.trials[0].outcome.measurement.emplace();
  seen.samples_per_s = {100, 100, 100};
  seen.phases.wall_ms.value = 17;
  seen.phases.h2d_ms.value = 10;
  const DiagnosisInput input{kBase, false, kCores, {}};
  EXPECT_TRUE(can_matter(planned[2], run, input));
  seen.phases.h2d_ms.value = 0.2;
  EXPECT_FALSE(can_matter(planned[2], run, input));
  for (const auto& one : plan_experiments(kBase, true, kCores)) EXPECT_FALSE(one.settings.pin_memory);
}

TEST(LoaderVerdict, a_few_per_cent_of_a_large_gain_are_no_reason_for_more_workers) {
  auto twice = kBase;
  twice.workers = 8;
  const auto with = [&](double host, double more) {
    return Made().add(kBase, DataMode::loader, 100).add(kBase, DataMode::host, host).add(twice, DataMode::loader, more);
  };
  EXPECT_FALSE(with(1000, 112).loader().wants_more_workers);
  EXPECT_TRUE(with(1000, 125).loader().wants_more_workers);
  EXPECT_TRUE(with(120, 106).loader().wants_more_workers);
  EXPECT_FALSE(with(120, 104).loader().wants_more_workers);
  EXPECT_FALSE(with(104, 130).loader().wants_more_workers);
  EXPECT_FALSE(Made().add(kBase, DataMode::loader, 100).loader().holds_up);
}

// 39 MB batches from 8 workers, copied from pageable memory on an H200: no step waited, and yet memory was 90 % faster.
TEST(LoaderVerdict, a_loader_that_nobody_waits_for_does_not_hold_training_up) {
  const auto verdict = [](int workers, double wall_ms, double wait_ms) {
    const TrainingSettings base{64, workers, AmpMode::bf16, false};
    schema::BenchRun run;
    for (const double rate : {2979.0, 5654.0}) {
      auto& trial = run.trials.emplace_back();
      trial.settings = base;
      trial.data = run.trials.size() == 1 ? DataMode::loader : DataMode::host;
      auto& seen = trial.outcome.measurement.emplace();
      seen.samples_per_s = {rate, rate * 0.99, rate * 1.01};
      seen.phases.wall_ms.value = wall_ms;
      seen.phases.io_wait_ms.value = wait_ms;
    }
    return judge_loader(run, {base, false, kCores, {}});
  };
  EXPECT_FALSE(verdict(8, 21.3, 0.003).holds_up);
  EXPECT_NEAR(verdict(8, 21.3, 0.003).possible, 0.898, 0.001);
  EXPECT_TRUE(verdict(8, 21.3, 9.5).holds_up);
  EXPECT_TRUE(verdict(8, 12, 0.003).holds_up) << "64 samples take 21.5 ms on the average: batches come in bursts";
  EXPECT_EQ(verdict(0, 21.3, 0.003).possible, 0) << "nothing runs beside the steps";
  EXPECT_TRUE(verdict(0, 21.3, 9.5).holds_up);
}

/// A trial whose workers' windows were 10 s.
void add_trial(schema::BenchRun& run, const TrainingSettings& settings, DataMode data, double rate, double cpu_s) {
  schema::BenchTrial trial;
  trial.settings = settings;
  trial.data = data;
  trial.outcome.measurement.emplace();
  trial.outcome.measurement->samples_per_s = {rate, rate, rate};
  trial.outcome.measurement->resources.loader_cpu_s = cpu_s;
  trial.outcome.measurement->resources.loader_wall_s = 10;
  run.trials.push_back(std::move(trial));
}

TrainingSettings with_workers_of(int workers) {
  auto out = kBase;
  out.workers = workers;
  return out;
}

TEST(LoaderVerdict, workers_that_use_every_cpu_are_not_too_few) {
  auto twice = kBase;
  twice.workers = 8;
  schema::BenchRun run;
  add_trial(run, kBase, DataMode::loader, 100, 9);
  add_trial(run, kBase, DataMode::host, 1000, 0);
  add_trial(run, twice, DataMode::loader, 150, 9);
  EXPECT_FALSE(judge_loader(run, {kBase, false, 4, {}}).wants_more_workers);
  EXPECT_TRUE(judge_loader(run, {kBase, false, 8, {}}).wants_more_workers);
  run.trials.front().outcome.measurement->resources.loader_cpu_s = 1;  // they wait
  EXPECT_TRUE(judge_loader(run, {kBase, false, 4, {}}).wants_more_workers);
}

TEST(LoaderVerdict, workers_of_many_threads_crowd_the_cpus) {
  auto twice = kBase;
  twice.workers = 8;
  schema::BenchRun run;
  const DiagnosisInput input{kBase, false, kCores, {}};
  add_trial(run, kBase, DataMode::loader, 100, 100);
  EXPECT_FALSE(judge_loader(run, input).threads_each);
  add_trial(run, kBase, DataMode::host, 1000, 0);
  ASSERT_TRUE(judge_loader(run, input).threads_each);
  EXPECT_DOUBLE_EQ(*judge_loader(run, input).threads_each, 10);
  EXPECT_FALSE(can_matter({twice, DataMode::loader, {}, {}, {}}, run, input));
  EXPECT_FALSE(can_matter({kBase, DataMode::loader_only, {}, {}, {}}, run, input));
  auto half = kBase;
  half.workers = 2;
  EXPECT_TRUE(can_matter({half, DataMode::loader, {}, {}, {}}, run, input));
  // More of them take a larger share of the CPUs from others, and still stand in each other's way.
  add_trial(run, twice, DataMode::loader, 180, 120);
  EXPECT_FALSE(judge_loader(run, input).wants_more_workers);
  // A GPU's share of the CPUs that has room for all of them.
  EXPECT_FALSE(judge_loader(run, {kBase, false, 64, {}}).threads_each);
}

TEST(LoaderVerdict, overlapping_intervals_are_no_gain) {
  schema::BenchRun run;
  const auto add = [&](DataMode data, stats::Estimate rate) {
    schema::BenchTrial trial;
    trial.settings = kBase;
    trial.data = data;
    trial.outcome.measurement.emplace();
    trial.outcome.measurement->samples_per_s = rate;
    run.trials.push_back(std::move(trial));
  };
  add(DataMode::loader, {100, 80, 130});
  add(DataMode::host, {125, 120, 129});
  EXPECT_FALSE(judge_loader(run, {kBase, false, kCores, {}}).holds_up);
  run.trials.back().outcome.measurement->samples_per_s = {140, 131, 150};
  EXPECT_TRUE(judge_loader(run, {kBase, false, kCores, {}}).holds_up);
}

TEST(LoaderVerdict, without_workers_no_more_is_gained_than_was_waited) {
  auto base = kBase;
  base.workers = 0;
  schema::BenchRun run;
  for (const auto& [data, rate] : {std::pair{DataMode::loader, 100.0}, std::pair{DataMode::host, 120.0}}) {
    schema::BenchTrial trial;
    trial.settings = base;
    trial.data = data;
    trial.outcome.measurement.emplace();
    trial.outcome.measurement->samples_per_s = {rate, rate, rate};
    run.trials.push_back(std::move(trial));
  }
  auto& phases = run.trials.front().outcome.measurement->phases;
  phases.wall_ms.value = 40;
  phases.io_wait_ms.value = 1;
  EXPECT_FALSE(judge_loader(run, {base, false, kCores, {}}).holds_up);
  phases.io_wait_ms.value = 6;
  EXPECT_TRUE(judge_loader(run, {base, false, kCores, {}}).holds_up);
}

TEST(BenchExperiments, what_is_open_is_named_with_what_stands_in_its_way) {
  schema::BenchRun run;
  run.device = "cuda:0";
  add_trial(run, kBase, DataMode::loader, 100, 0.2);
  add_trial(run, kBase, DataMode::host, 1000, 0);
  DiagnosisInput input{kBase, false, 2, schema::messages::foreign("--max-time was used up")};
  EXPECT_EQ(
      fakes::text_of(not_tried(run, input)),
      "not tried under batch 64, 4 workers, no AMP, not pinned: with pinned memory, with more workers, the loader "
      "alone, with data on the device, with fewer workers (--max-time was used up)");
  const auto twice = with_workers_of(8);
  add_trial(run, twice, DataMode::loader, 200, 0.2);
  const auto further = open_experiments(run, input);
  EXPECT_TRUE(std::any_of(further.begin(), further.end(), [](const auto& one) { return one.settings.workers == 16; }))
      << "they wait, and the doubling helped";
  // Those that compute have no use for more of them than CPUs.
  run.trials.back().outcome.measurement->resources.loader_cpu_s = 9;
  for (const auto& one : open_experiments(run, input)) EXPECT_LE(one.settings.workers, 4);
}

TEST(WorkerLadder, memory_ends_it) {
  schema::BenchRun run;
  add_trial(run, kBase, DataMode::loader, 100, 0.2);
  const DiagnosisInput input{kBase, false, 2, {}};
  const auto end_of = [&] { return fakes::text_of(climb_workers(run, input, 0.2).end); };
  EXPECT_EQ(climb_workers(run, input, 0.2).next, 8);
  auto& resources = run.trials.back().outcome.measurement->resources;
  resources.loader_memory_gb = 6;
  resources.host_available_gb = 6;
  EXPECT_FALSE(climb_workers(run, input, 0.2).next);
  EXPECT_EQ(end_of(), "8 would need 6.0 GB more of the 6.0 GB that the host has left");
  resources.host_available_gb = 60;
  EXPECT_EQ(climb_workers(run, input, 0.2).next, 8);
  add_trial(run, with_workers_of(8), DataMode::loader, 0, 0.2);
  EXPECT_EQ(end_of(), "the trial with 8 failed");
  auto many = kBase;
  many.workers = kMostTriedWorkers;
  schema::BenchRun large;
  add_trial(large, many, DataMode::loader, 100, 0.2);
  EXPECT_EQ(fakes::text_of(climb_workers(large, {many, false, 2, {}}, 0.2).end), "64 is the maximum that is tried");
}

TEST(BenchExperiments, none_become_a_few_workers) {
  EXPECT_EQ(more_workers(0, 16), 4);
  EXPECT_EQ(more_workers(0, 2), 2);
  EXPECT_EQ(more_workers(0, 0.5), 1);
  EXPECT_EQ(more_workers(3, 2), 6);
}

}  // namespace
}  // namespace ridgeline::analysis
