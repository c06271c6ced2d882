// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/bench_campaign.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "analysis/bench_answers.hpp"
#include "campaign/messages.hpp"
#include "fakes/messages_in.hpp"
#include "fakes/training_landscape.hpp"
#include "fakes/words.hpp"
#include "report/bench_report.hpp"
#include "report/renderers.hpp"
#include "unit/campaign/bench/bench_campaign_fixture.hpp"

namespace ridgeline::campaign {
namespace {

using schema::AmpMode;
using schema::DataMode;
using schema::TrainingSettings;

double best_truth(const std::string& target, const schema::TrainingSpace& space) {
  return fakes::best_true_rate(*workload::parse_step_options(target), space);
}

TEST_F(BenchCampaignTest, a_run_ends_with_answers_that_were_measured) {
  const auto run_result = run(request("decode_us=400"));
  ASSERT_TRUE(run_result) << run_result.error().message;
  const auto& bench = *run_result;
  ASSERT_TRUE(bench.answers && bench.answers->recommended && bench.answers->efficient);
  EXPECT_FALSE(bench.interrupted);
  EXPECT_FALSE(bench.findings.empty());
  for (const auto& trial : bench.trials)
    if (trial.outcome.measurement) {
      EXPECT_LT(std::abs(trial.outcome.measurement->identity_error), 0.05) << trial.id;
    }
  const auto markdown = report::render_markdown(report::build_bench_report(fakes::words(), bench));
  EXPECT_NE(markdown.find("Recommended"), std::string::npos);
  EXPECT_NE(markdown.find("H2D(ms)"), std::string::npos);
}

TEST_F(BenchCampaignTest, what_a_run_says_is_of_the_catalogues) {
  auto limited = request("read_us=4000,decode_us=20", "grid");
  limited.space.batches = {64};
  limited.max_time = std::chrono::seconds(60);
  const auto bench = run(limited);
  ASSERT_TRUE(bench && !bench->findings.empty() && bench->answers);
  const auto said = fakes::messages_in(*bench);
  EXPECT_GT(said.size(), bench->trials.size() + 3);
  for (const auto& message : said) {
    EXPECT_NE(fakes::words().find(message.code()), nullptr) << message.code();
    EXPECT_NE(message.code(), schema::kLegacy) << fakes::text_of(message);
  }
}

TEST_F(BenchCampaignTest, the_same_question_is_answered_from_the_store) {
  ASSERT_TRUE(run(request("")));
  const int first = executor_.count;
  const auto again = run(request(""));
  ASSERT_TRUE(again);
  EXPECT_EQ(executor_.count, first);
  for (const auto& trial : again->trials) EXPECT_TRUE(trial.cached);
  auto fresh = request("");
  fresh.use_store = false;
  ASSERT_TRUE(run(fresh));
  EXPECT_GT(executor_.count, first);
}

TEST_F(BenchCampaignTest, an_interrupted_run_keeps_what_it_found_and_goes_on) {
  const auto stopped = run(request(""), [this] { return executor_.count >= 6; });
  ASSERT_TRUE(stopped);
  EXPECT_TRUE(stopped->interrupted);
  EXPECT_EQ(stopped->trials.size(), 6U);
  const auto whole = run(request(""));
  ASSERT_TRUE(whole);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(whole->trials[i].cached);
  EXPECT_FALSE(whole->interrupted);
}

TEST_F(BenchCampaignTest, time_that_is_used_up_ends_the_search) {
  auto limited = request("", "grid");
  limited.max_time = std::chrono::seconds(60);
  const auto bench = run(limited);
  ASSERT_TRUE(bench);
  EXPECT_NE(fakes::text_of(bench->interruption).find("--max-time"), std::string::npos);
  EXPECT_LT(bench->duration_s, 90);
  EXPECT_TRUE(bench->answers);
}

TEST_F(BenchCampaignTest, what_was_asked_of_the_job_beforehand_counts) {
  auto limited = request("", "grid");
  limited.max_time = std::chrono::seconds(60);
  limited.spent_before_s = 45;
  const auto bench = run(limited);
  ASSERT_TRUE(bench);
  EXPECT_NE(fakes::text_of(bench->interruption).find("--max-time"), std::string::npos);
  EXPECT_LT(bench->duration_s, 45);
}

TEST_F(BenchCampaignTest, time_that_ends_with_the_last_combination_interrupts_nothing) {
  auto limited = request("", "grid");
  limited.space = {{512}, {0}, {AmpMode::off}, {false}};
  limited.max_time = std::chrono::seconds(60);
  limited.spent_before_s = 59;
  const auto bench = run(limited);
  ASSERT_TRUE(bench && bench->answers);
  EXPECT_EQ(fakes::text_of(bench->interruption), "");
  limited.space.workers = {0, 2, 4};
  const auto more = run(limited);
  ASSERT_TRUE(more);
  EXPECT_NE(fakes::text_of(more->interruption), "");
}

// With another --max-time, which is the trials' limit too, none of 269 stored trials was taken up again.
TEST_F(BenchCampaignTest, more_time_goes_on_where_less_had_ended) {
  auto limited = request("", "grid");
  limited.max_time = std::chrono::seconds(60);
  limited.plan.max_time_s = 3;
  const auto first = run(limited);
  ASSERT_TRUE(first && fakes::text_of(first->interruption).find("--max-time") != std::string::npos);
  auto longer = request("", "grid");
  longer.plan.max_time_s = 4;
  longer.plan.max_warmup_s = 4;
  const auto whole = run(longer);
  ASSERT_TRUE(whole);
  const auto reused = [&](const schema::BenchRun& bench) {
    return std::count_if(bench.trials.begin(), bench.trials.end(), [](const auto& trial) { return trial.cached; });
  };
  EXPECT_GE(reused(*whole), static_cast<std::ptrdiff_t>(first->trials.size() * 3 / 4));
  EXPECT_GT(whole->trials.size(), first->trials.size());
}

TEST_F(BenchCampaignTest, what_the_time_had_ended_is_measured_again_where_there_is_more) {
  auto hasty = request("", "grid");
  hasty.space = {{512}, {0}, {AmpMode::off}, {false}};
  hasty.plan.target_interval_ratio = 1e-9;
  hasty.plan.max_time_s = 0.5;
  hasty.diagnose = false;
  hasty.stability_steps = 0;
  ASSERT_TRUE(run(hasty));
  const int first = executor_.count;
  ASSERT_TRUE(run(hasty));
  EXPECT_EQ(executor_.count, first) << "no more time: nothing new to learn";
  hasty.plan.max_time_s = 5;
  const auto longer = run(hasty);
  ASSERT_TRUE(longer);
  EXPECT_GT(executor_.count, first);
  EXPECT_FALSE(longer->trials.front().cached);
}

// On an H200 a grid of 96 combinations left out 25 with 75 of 300 s still to come, as nothing else was asked for.
TEST_F(BenchCampaignTest, where_nothing_comes_after_the_search_it_has_nearly_all_the_time) {
  auto whole = request("", "grid");
  whole.space.batches = {16, 64, 256};
  whole.diagnose = false;
  const auto unlimited = run(whole);
  ASSERT_TRUE(unlimited);
  double search_end_s = 0;
  for (const auto& trial : unlimited->trials)
    if (trial.stage == schema::BenchStage::sweep)
      search_end_s = std::max(search_end_s, trial.started_s + trial.outcome.duration_s);
  whole.use_store = false;
  whole.max_time = base::from_seconds(search_end_s / 0.8);
  const auto bench = run(whole);
  ASSERT_TRUE(bench);
  EXPECT_TRUE(bench->interruption.empty());
  EXPECT_LE(bench->duration_s, 1.02 * search_end_s / 0.8);
  const auto of_sweep = [](const schema::BenchRun& one) {
    return std::count_if(one.trials.begin(), one.trials.end(),
                         [](const auto& trial) { return trial.stage == schema::BenchStage::sweep; });
  };
  EXPECT_EQ(of_sweep(*bench), of_sweep(*unlimited));
}

// On an H200 vit-small left out 22 batches for the time and ended in 83 of 157 s.
TEST_F(BenchCampaignTest, the_compute_curve_is_completed_with_the_time_that_is_left) {
  auto asked = request("decode_us=20");
  asked.space = fakes::default_training_space();
  asked.diagnose = false;
  const auto whole = run(asked);
  ASSERT_TRUE(whole);
  asked.use_store = false;
  for (const double share : {0.4, 0.7, 1.0, 1.3, 2.0}) {
    asked.max_time = base::from_seconds(share * whole->duration_s);
    const auto bench = run(asked);
    ASSERT_TRUE(bench);
    const bool short_of_time = std::any_of(bench->skipped.begin(), bench->skipped.end(), [](const auto& one) {
      return fakes::text_of(one.reason).find("time") != std::string::npos;
    });
    EXPECT_TRUE(!short_of_time || bench->duration_s > 0.7 * base::to_seconds(*asked.max_time))
        << share << ": " << bench->duration_s << " of " << base::to_seconds(*asked.max_time) << " s";
    EXPECT_LE(bench->duration_s, 1.1 * base::to_seconds(*asked.max_time)) << share;
  }
}

// As ResNet-50 on an H200 did: the compute curve alone took all of --max-time, and the run ended without an answer.
TEST_F(BenchCampaignTest, an_answer_comes_within_the_time_that_the_curves_alone_would_take) {
  const auto whole = run(request("decode_us=400"));
  ASSERT_TRUE(whole);
  double curves_end_s = 0;
  for (const auto& trial : whole->trials)
    if (trial.stage == schema::BenchStage::compute || trial.stage == schema::BenchStage::loading)
      curves_end_s = std::max(curves_end_s, trial.started_s);
  auto limited = request("decode_us=400");
  limited.use_store = false;
  limited.max_time = base::from_seconds(curves_end_s);
  const auto bench = run(limited);
  ASSERT_TRUE(bench);
  ASSERT_TRUE(bench->answers && bench->answers->fastest);
  ASSERT_FALSE(bench->skipped.empty());
  EXPECT_NE(fakes::text_of(bench->skipped.back().reason).find("time"), std::string::npos);
  // Every precision has been looked at.
  std::set<AmpMode> seen;
  for (const auto& trial : bench->trials) seen.insert(trial.settings.amp);
  EXPECT_EQ(seen.size(), limited.space.amps.size());
  EXPECT_GT(bench->answers->fastest->samples_per_s, 0.75 * best_truth("decode_us=400", limited.space));
  EXPECT_LT(bench->duration_s, 1.3 * curves_end_s);
}

// ResNet-18 on an H200 in 55 s: six trials from the smallest batch up, and batch 4 was the answer.
TEST_F(BenchCampaignTest, little_time_is_spread_over_all_batch_sizes) {
  auto asked = request("decode_us=20");
  asked.space.batches = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
  const auto whole = run(asked);
  ASSERT_TRUE(whole);
  asked.use_store = false;
  asked.max_time = base::from_seconds(whole->duration_s / 4);
  const auto bench = run(asked);
  ASSERT_TRUE(bench && bench->answers && bench->answers->fastest);
  EXPECT_GT(bench->answers->fastest->samples_per_s, 0.9 * best_truth("decode_us=20", asked.space));
}

TEST_F(BenchCampaignTest, memory_ends_the_way_up_and_the_gap_is_bisected) {
  for (const auto* search : {"grid", "adaptive"}) {
    auto tight = request("memory_gb=8,sample_gb=0.03,decode_us=50,fill=400", search);
    tight.space.amps = {AmpMode::off};
    const auto bench = run(tight);
    ASSERT_TRUE(bench) << search;
    std::int64_t largest = 0;
    for (const auto& trial : bench->trials)
      if (trial.outcome.status == schema::TrialStatus::ok && trial.data != DataMode::loader_only)
        largest = std::max(largest, trial.settings.batch);
    // 8 GB less a tenth holds 206 samples; 128 fits, 256 does not.
    EXPECT_GE(largest, 180) << search;
    EXPECT_LE(largest, 233) << search;
    EXPECT_FALSE(bench->skipped.empty()) << search;
    ASSERT_TRUE(bench->answers && bench->answers->recommended);
    EXPECT_LE(*bench->answers->recommended->memory_gb, 7.2) << search;
  }
}

TEST_F(BenchCampaignTest, a_failed_stability_run_moves_the_recommendation) {
  auto lasting = request("decode_us=50");
  lasting.stability_steps = 500;
  const auto bench = run(lasting);
  ASSERT_TRUE(bench && bench->answers && bench->answers->recommended);
  EXPECT_NE(fakes::text_of(bench->answers->recommended->reason).find("passed a stability run of 500 steps"),
            std::string::npos)
      << fakes::text_of(bench->answers->recommended->reason);
  const auto& stability_run = bench->trials;
  const bool long_enough = std::any_of(stability_run.begin(), stability_run.end(), [](const auto& trial) {
    return trial.stage == schema::BenchStage::stability_run && trial.outcome.measurement &&
           trial.outcome.measurement->steps >= 500;
  });
  EXPECT_TRUE(long_enough);
}

bool says(const schema::BenchRun& bench, const std::string& text) {
  return bench.answers && bench.answers->recommended &&
         fakes::text_of(bench.answers->recommended->reason).find(text) != std::string::npos;
}

// A minute that was asked for became an hour, and the stability run that its own limit had ended counted as held.
TEST_F(BenchCampaignTest, a_stability_run_keeps_within_the_time_and_says_that_it_was_cut) {
  auto lasting = request("decode_us=50");
  lasting.stability_steps = 100000;
  lasting.max_time = std::chrono::seconds(60);
  const auto bench = run(lasting);
  ASSERT_TRUE(bench && bench->answers && bench->answers->recommended);
  EXPECT_LE(bench->duration_s, 62);
  EXPECT_TRUE(says(*bench, " of 100000 steps")) << fakes::text_of(bench->answers->recommended->reason);
  EXPECT_FALSE(says(*bench, "held")) << fakes::text_of(bench->answers->recommended->reason);
  const auto stability_run = std::find_if(bench->trials.begin(), bench->trials.end(), [](const auto& trial) {
    return trial.stage == schema::BenchStage::stability_run;
  });
  ASSERT_NE(stability_run, bench->trials.end());
  EXPECT_NE(fakes::text_of(stability_run->reason).find(" of 100000 steps"), std::string::npos)
      << fakes::text_of(stability_run->reason);
  EXPECT_NE(report::render_markdown(report::build_bench_report(fakes::words(), *bench))
                .find(fakes::text_of(analysis::cut_stability_run(*stability_run))),
            std::string::npos);
}

// Without --stability-run: what is recommended has a stability run all the same, but not for long.
TEST_F(BenchCampaignTest, a_stability_run_that_nobody_asked_for_is_short) {
  auto one = request("compute_us=50000", "grid");
  one.space = {{64}, {2}, {AmpMode::off}, {false}};
  one.diagnose = false;
  one.stability_steps = 200;
  one.short_stability_s = 30;
  const auto bench = run(one);
  ASSERT_TRUE(bench);
  EXPECT_TRUE(says(*bench, " of 200 steps")) << fakes::text_of(bench->answers->recommended->reason);
  const auto& stability_run = bench->trials.back();
  ASSERT_EQ(stability_run.stage, schema::BenchStage::stability_run);
  EXPECT_LT(stability_run.outcome.duration_s, 30 + 120);  // warm-up takes what it takes
  EXPECT_NE(fakes::text_of(stability_run.outcome.measurement->flags.back().message)
                .find("without --stability-run N, it may take at most 30 s"),
            std::string::npos)
      << fakes::text_of(stability_run.outcome.measurement->flags.back().message);
  one.short_stability_s.reset();
  const auto whole = run(one);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(says(*whole, "passed a stability run of 200 steps"))
      << fakes::text_of(whole->answers->recommended->reason);
}

TEST_F(BenchCampaignTest, settings_that_are_all_refused_are_bad_input_and_leave_nothing_behind) {
  auto asked = request("fault=refused");
  asked.origins = {{std::string(kBatchOrigin), "32 64", messages::origin_line({.file = "bench.yaml", .line = 3})}};
  const auto bench = run(asked);
  ASSERT_FALSE(bench);
  EXPECT_EQ(bench.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(bench.error().message.find("batch sizes 32 64 (bench.yaml:3): no setting can be trained with"),
            std::string::npos)
      << bench.error().message;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r.db"));
  // Where some go well the others are no more than rows of the table, asked again next time.
  const auto some = run(request("fault=refused if batch>=256"));
  ASSERT_TRUE(some);
  EXPECT_TRUE(some->answers);
  const int before = executor_.count;
  ASSERT_TRUE(run(request("fault=refused if batch>=256")));
  EXPECT_GT(executor_.count, before);
}

TEST_F(BenchCampaignTest, a_stability_run_that_there_is_no_time_for_is_left_out_with_the_reason) {
  auto one = request("decode_us=50", "grid");
  one.space = {{64}, {2}, {AmpMode::off}, {false}};
  one.diagnose = false;
  const auto alone = run(one);
  ASSERT_TRUE(alone);
  EXPECT_TRUE(says(*alone, "no stability run; --stability-run 500 adds one"))
      << fakes::text_of(alone->answers->recommended->reason);
  one.use_store = false;
  one.stability_steps = 500;
  one.max_time = base::from_seconds(alone->trials.front().outcome.duration_s * 1.05);
  const auto bench = run(one);
  ASSERT_TRUE(bench);
  EXPECT_EQ(std::count_if(bench->trials.begin(), bench->trials.end(),
                          [](const auto& trial) { return trial.stage == schema::BenchStage::stability_run; }),
            0);
  EXPECT_TRUE(says(*bench, "no stability run: ")) << fakes::text_of(bench->answers->recommended->reason);
  EXPECT_TRUE(says(*bench, "--max-time")) << fakes::text_of(bench->answers->recommended->reason);
}

TEST_F(BenchCampaignTest, a_cut_stability_run_is_made_again_with_more_time_and_a_whole_one_is_not) {
  auto one = request("decode_us=50", "grid");
  one.space = {{64}, {2}, {AmpMode::off}, {false}};
  one.diagnose = false;
  one.stability_steps = 20000;
  one.max_time = std::chrono::seconds(20);
  const auto cut = run(one);
  ASSERT_TRUE(cut);
  EXPECT_TRUE(says(*cut, " of 20000 steps")) << fakes::text_of(cut->answers->recommended->reason);
  one.max_time.reset();
  const auto whole = run(one);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(says(*whole, "passed a stability run of 20000 steps"))
      << fakes::text_of(whole->answers->recommended->reason);
  one.max_time = std::chrono::milliseconds(1);
  const int before = executor_.count;
  const auto stored = run(one);
  ASSERT_TRUE(stored);
  EXPECT_TRUE(says(*stored, "passed a stability run of 20000 steps"))
      << fakes::text_of(stored->answers->recommended->reason);
  EXPECT_EQ(executor_.count, before);
}

TEST_F(BenchCampaignTest, the_json_has_current_settings_only_where_somebody_gave_them) {
  auto one = request("decode_us=50", "grid");
  one.space = {{64}, {2}, {AmpMode::off}, {false}};
  one.diagnose = false;
  const auto without = run(one);
  ASSERT_TRUE(without);
  EXPECT_FALSE(report::bench_json(fakes::words(), *without).contains("current"));
  one.current = TrainingSettings{32, 0, AmpMode::off, false};
  const auto with = run(one);
  ASSERT_TRUE(with);
  EXPECT_EQ(report::bench_json(fakes::words(), *with)["current"]["batch"], 32);
}

TEST_F(BenchCampaignTest, trials_that_fail_do_not_end_the_run) {
  const auto bench = run(request("fault=shape if amp=fp16,fault=oom_cublas if batch>=512"));
  ASSERT_TRUE(bench);
  ASSERT_TRUE(bench->answers && bench->answers->fastest);
  EXPECT_NE(bench->answers->fastest->settings.amp, AmpMode::fp16);
  EXPECT_LT(bench->answers->fastest->settings.batch, 512);
}

TEST_F(BenchCampaignTest, what_no_setting_would_mend_ends_it) {
  const auto bench = run(request("fault=no_module@prepare"));
  ASSERT_FALSE(bench);
  EXPECT_EQ(bench.error().code, base::ErrorCode::not_found);
}

// benchmarks/bench_search_efficiency.cpp does the same on more machines.
TEST_F(BenchCampaignTest, adaptive_comes_within_two_percent_of_the_grid_in_a_third_of_its_time) {
  double time_share = 0;
  int good = 0;
  constexpr int kMachines = 16;
  for (std::uint64_t seed = 1; seed <= kMachines; ++seed) {
    const auto machine = fakes::training_landscape(seed);
    auto adaptive = request(machine.target);
    adaptive.space = fakes::default_training_space();
    adaptive.diagnose = false;
    adaptive.use_store = false;
    auto grid = adaptive;
    grid.search = "grid";
    const double begin = elapsed_s();
    const auto quick = run(adaptive);
    const double middle = elapsed_s();
    ASSERT_TRUE(run(grid));
    const double share = (middle - begin) / (elapsed_s() - middle);
    ASSERT_TRUE(quick && quick->answers && quick->answers->fastest) << machine.target;
    const double reached = fakes::true_rate(machine.options, quick->answers->fastest->settings) /
                           fakes::best_true_rate(machine.options, adaptive.space);
    time_share += share / kMachines;
    EXPECT_LE(share, 0.35) << machine.target;
    EXPECT_GE(reached, 0.95) << machine.target;
    good += reached >= 0.98 ? 1 : 0;
  }
  EXPECT_LE(time_share, 0.2);
  EXPECT_GE(good, kMachines - 1);
}

TEST_F(BenchCampaignTest, two_minutes_are_enough_for_nineteen_in_twenty_on_most_machines) {
  int good = 0;
  constexpr int kMachines = 16;
  for (std::uint64_t seed = 1; seed <= kMachines; ++seed) {
    const auto machine = fakes::training_landscape(seed, 1000);
    auto limited = request(machine.target);
    limited.space = fakes::default_training_space();
    limited.diagnose = false;
    limited.use_store = false;
    limited.max_time = std::chrono::seconds(120);
    limited.plan.max_time_s = limited.plan.max_warmup_s = 6;
    const double begin = elapsed_s();
    const auto bench = run(limited);
    EXPECT_LE(elapsed_s() - begin, 150) << machine.target;
    ASSERT_TRUE(bench && bench->answers && bench->answers->fastest) << machine.target;
    const double reached = fakes::true_rate(machine.options, bench->answers->fastest->settings) /
                           fakes::best_true_rate(machine.options, limited.space);
    good += reached >= 0.95 ? 1 : 0;
  }
  EXPECT_GE(good, kMachines - 2);
}

TEST_F(BenchCampaignTest, random_data_of_the_native_way_have_no_loader_to_ask) {
  auto native = request("decode_us=50");
  native.job.kind = "native";
  native.space.workers = {0};
  const auto without = run(native);
  ASSERT_TRUE(without && without->answers);
  for (const auto& trial : without->trials) {
    EXPECT_NE(trial.data, DataMode::loader_only) << fakes::text_of(trial.reason);
    EXPECT_EQ(trial.settings.workers, 0) << fakes::text_of(trial.reason);
  }
  native.job.data_path = "data.h5";
  const auto with = run(native);
  ASSERT_TRUE(with);
  EXPECT_TRUE(std::any_of(with->trials.begin(), with->trials.end(),
                          [](const auto& trial) { return trial.data == DataMode::loader_only; }));
}

TEST_F(BenchCampaignTest, equal_slots_share_a_grid) {
  executor_.places.assign(3, {"gpu", {}});
  auto asked = request("", "grid");
  asked.space = {{32, 64, 128}, {0, 4}, {AmpMode::off, AmpMode::bf16}, {false}};
  asked.diagnose = false;
  const auto bench = run(asked);
  ASSERT_TRUE(bench) << bench.error().message;
  ASSERT_TRUE(bench->answers && bench->answers->recommended);
  for (std::size_t i = 0; i < bench->trials.size(); ++i) EXPECT_EQ(bench->trials[i].id, static_cast<int>(i) + 1);
  for (const std::size_t slot : {0U, 1U, 2U})
    EXPECT_GE(std::count(executor_.slots_used.begin(), executor_.slots_used.end(), slot), 4) << slot;
  ASSERT_EQ(bench->notes.size(), 1U);
  EXPECT_EQ(fakes::text_of(bench->notes[0]).rfind("trials are spread over 3 GPUs", 0), 0U)
      << fakes::text_of(bench->notes[0]);
}

TEST_F(BenchCampaignTest, a_search_that_learns_stays_on_one_slot) {
  executor_.places.assign(3, {"gpu", {}});
  auto asked = request("");
  asked.diagnose = false;
  ASSERT_TRUE(run(asked));
  const int here = static_cast<int>(std::count(executor_.slots_used.begin(), executor_.slots_used.end(), 0U));
  EXPECT_GT(here, executor_.count / 2);
}

TEST_F(BenchCampaignTest, a_lever_helps_if_it_leads_in_every_round) {
  auto asked = request("");
  asked.levers = {"torch_compile", "channels_last", "allow_tf32"};
  executor_.speeds = {{"torch_compile=default", {1.3}}, {"channels_last", {1}}, {"allow_tf32", {1.2, 1.2, 1}}};
  const auto found = run(asked);
  ASSERT_TRUE(found) << found.error().message;
  std::vector<std::string> helps;
  for (const auto& finding : found->findings)
    if (finding.code == "torch_compile" || executor_.speeds.contains(finding.code)) {
      helps.push_back(finding.code);
      EXPECT_NEAR(finding.predicted_gain.value_or(0), 0.3, 0.05);
    }
  EXPECT_EQ(helps, std::vector<std::string>{"torch_compile"});
  EXPECT_TRUE(noted(*found, "from channels_last, allow_tf32")) << listed(*found);
  EXPECT_TRUE(noted(*found, "torch_compile=reduce-overhead"));
}

TEST_F(BenchCampaignTest, a_precision_that_loses_the_loss_is_never_recommended) {
  executor_.loses_loss = [](const auto& settings) { return settings.amp == schema::AmpMode::fp16; };
  const auto lost = run(request(""));
  ASSERT_TRUE(lost) << lost.error().message;
  ASSERT_TRUE(lost->answers->recommended);
  EXPECT_NE(lost->answers->recommended->settings.amp, schema::AmpMode::fp16);
  EXPECT_NE(lost->answers->fastest->settings.amp, schema::AmpMode::fp16);
  for (const auto& finding : lost->findings) EXPECT_NE(finding.settings.amp, schema::AmpMode::fp16);
  EXPECT_TRUE(noted(*lost, "only with fp16. Such settings are not recommended: use bf16")) << listed(*lost);
  EXPECT_TRUE(noted(*lost, "the loss is not finite from step 3 on")) << listed(*lost);
}

TEST_F(BenchCampaignTest, a_training_that_diverges_under_all_settings_is_still_measured) {
  executor_.loses_loss = [](const auto&) { return true; };
  const auto lost = run(request(""));
  ASSERT_TRUE(lost) << lost.error().message;
  ASSERT_TRUE(lost->answers);
  EXPECT_FALSE(lost->answers->recommended);
  EXPECT_TRUE(noted(*lost, "under all settings")) << listed(*lost);
}

}  // namespace
}  // namespace ridgeline::campaign
