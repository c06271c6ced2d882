// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/tune_budget.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/words.hpp"
#include "schema/execution_provider.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;

class TuneBudgetTest : public testing::Test {
 protected:
  TuneBudgetTest() {
    request_.max_time = std::chrono::seconds(100);
    request_.paired.rounds = request_.paired.max_rounds = 1;
    request_.paired.max_time_s = 10;
    request_.fresh_finals = false;
    spaces_.add("", {{{"intra_op_num_threads", {1, 2, 4}}}, {}, {}});
  }

  TuneBudget& budget() { return budget_.emplace(clock_, request_, result_, spaces_); }

  /// Of a tenth of a second, half of it the session, on a machine without spread.
  void add(const Configuration& configuration, bool stored = false, double latency_ns = 1e6) {
    schema::TunedTrial trial;
    trial.id = static_cast<int>(result_.run.trials.size()) + 1;
    trial.key = "trial-" + std::to_string(trial.id);
    trial.configuration = configuration;
    trial.cached = stored;
    auto& outcome = result_.outcomes[trial.key];
    outcome.status = schema::TrialStatus::ok;
    outcome.duration_s = stored ? 90 : 0.1;
    auto& seen = outcome.measurement.emplace();
    seen.latency_ns.assign(50, latency_ns);
    seen.session_create_ns = 0.05e9;
    result_.run.trials.push_back(trial);
  }

  fakes::FakeClock clock_;
  TuneRequest request_;
  TuneResult result_;
  CandidateSpaces spaces_;
  std::optional<TuneBudget> budget_;
  const Configuration two_{{"intra_op_num_threads", 2}};
};

// The time of the comparisons is kept, but a slow start does not take the first candidate's chance.
TEST_F(TuneBudgetTest, a_search_is_up_when_its_share_is_spent_or_its_comparison_would_not_fit) {
  struct Row {
    const char* why;
    int spent_s;
    double next_s;
    std::size_t finalists;
    bool candidate;
    bool is_up;
  };
  const Row rows[] = {
      {"time for all", 10, 1, 3, true, false},
      {"the comparison would not end in time", 10, 80, 3, true, true},
      {"nothing would be compared anyhow", 10, 80, 0, true, false},
      {"no candidate yet, so nothing is kept for its comparison", 10, 80, 3, false, false},
      {"the share of the search", 71, 1, 3, true, true},
      {"the same without a candidate", 71, 1, 3, false, true},
      {"all time is for one comparison, which still fits", 71, 1, 1, true, false},
      // MobileNetV3 on an H200: the sixth trial took 3.1 s among others of 0.5 s, and a quick run of ten seconds 11.3.
      {"and does not fit any more", 81, 1, 1, true, true},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.why);
    result_ = {};
    request_.finalists = row.finalists;
    request_.leave_one_out = row.finalists > 1;
    add({});
    if (row.candidate) add(two_);
    auto& now = budget();
    clock_.advance(std::chrono::seconds(row.spent_s));
    EXPECT_EQ(now.is_up(row.next_s, {}), row.is_up);
  }
}

TEST_F(TuneBudgetTest, a_limit_of_its_own_plans_the_search_but_ends_nothing_under_way) {
  EXPECT_TRUE(budget().is_binding());
  clock_.advance(std::chrono::seconds(95));
  EXPECT_DOUBLE_EQ(budget_->time_left(2, 1).seconds, 3);
  EXPECT_DOUBLE_EQ(budget_->time_left(2, 1).grace_s,
                   2 + 1 + result_.run.plan.warmup_max_s + result_.run.plan.max_time_s + 1);
  EXPECT_EQ(budget_->time_left(9, 0).seconds, 0) << "never below";
  request_.max_time.reset();
  auto& own = budget();
  EXPECT_FALSE(own.is_up(1e9, {}));
  own.set_limit(std::chrono::seconds(10));
  clock_.advance(std::chrono::seconds(11));
  EXPECT_FALSE(own.is_binding());
  EXPECT_TRUE(own.is_up(0, {}));
  EXPECT_EQ(own.time_left(0, 0).seconds, std::numeric_limits<double>::infinity());
  EXPECT_EQ(own.pair_reserve_s(), 0);
}

TEST_F(TuneBudgetTest, one_compilation_leaves_time_for_the_others) {
  result_.run.provider = schema::torch_providers().front().id;
  const Configuration compiled{{"torch_compile", "max-autotune"}};
  EXPECT_DOUBLE_EQ(*budget().trial_limit_s(compiled, 10), 0.5 * 85);
  EXPECT_DOUBLE_EQ(*budget_->trial_limit_s({}, 10), 85) << "CUDA's libraries may come from a cold file system";
  EXPECT_DOUBLE_EQ(*budget_->trial_limit_s(compiled, 0), 85) << "the last one gets what is left";
  clock_.advance(std::chrono::seconds(75));
  EXPECT_DOUBLE_EQ(*budget_->trial_limit_s(compiled, 10), 10) << "an ordinary one always fits";
  result_.run.provider = schema::cpu_provider().id;
  EXPECT_FALSE(budget().trial_limit_s(compiled, 10));
  result_.run.provider = schema::torch_providers().front().id;
  request_.max_time.reset();
  EXPECT_FALSE(budget().trial_limit_s(compiled, 10));
}

TEST_F(TuneBudgetTest, exported_models_far_behind_are_not_compared_at_their_defaults) {
  for (const auto* id : {"near", "far", "provider"}) {
    schema::Candidate candidate;
    candidate.id = id;
    if (candidate.id != "provider") candidate.workload.emplace();
    result_.run.candidates.push_back(candidate);
    spaces_.add(id, {});
    add({{std::string(schema::kCandidateKey), id}}, false, candidate.id == "near" ? 1.2e6 : 3e6);
  }
  add({});
  std::vector<std::string> compared;
  for (const auto& one : budget().candidates_to_compare()) compared.push_back(schema::candidate_of(one));
  EXPECT_EQ(compared, (std::vector<std::string>{"near", "provider"}));
}

// EfficientNetV2-S on an H200: with constant weights it compiled anew for 31 s, and its code was given no more than
// that.
TEST_F(TuneBudgetTest, the_code_of_a_model_that_compiles_long_gets_that_time_again) {
  const auto left_for_a_pair = [&](std::optional<double> compile_s) {
    result_ = {};
    result_.run.workload.kind = workload::kPythonKind;
    add({}, false, 9e6);
    add(two_, false, 1e6);
    if (compile_s) result_.outcomes["trial-2"].measurement->metrics["compile_s"] = *compile_s;
    auto& now = budget();
    return now.whole_plannable_s();
  };
  EXPECT_DOUBLE_EQ(left_for_a_pair(std::nullopt), 97 - 10) << "a tenth of the limit";
  EXPECT_DOUBLE_EQ(left_for_a_pair(2), 97 - 12) << "Python, torch and the model have to start as well";
  EXPECT_DOUBLE_EQ(left_for_a_pair(31), 97 - 25) << "a quarter of the limit at most";
}

// Two sessions of each arm are made at the same time, before or while others are tried.
TEST_F(TuneBudgetTest, sessions_that_are_made_in_the_background_cost_a_comparison_what_is_left_of_them) {
  request_.paired.rounds = 2;
  request_.paired.max_rounds = 12;
  request_.fresh_finals = true;
  add({}, false, 2e6);
  add(two_, false, 1e6);
  result_.outcomes["trial-2"].measurement->session_create_ns = 20e9;
  result_.outcomes["trial-2"].duration_s = 20.1;
  const double in_turn_s = budget().expected_final_s();
  EXPECT_GT(in_turn_s, 40) << "two sessions, one after the other";
  schema::TrialSpec other;
  other.configuration = {{"intra_op_num_threads", 4}};
  budget_->expect_prepared({other});
  const double now_s = budget_->expected_final_s();
  EXPECT_LT(now_s, in_turn_s - 15) << "all are made at once";
  schema::TrialSpec spec;
  spec.configuration = two_;
  budget_->expect_prepared({spec});
  clock_.advance(std::chrono::seconds(10));
  EXPECT_NEAR(budget_->expected_final_s(), now_s - 10, 1e-9) << "and are half made";
  EXPECT_FALSE(budget_->ends_soon());
  clock_.advance(std::chrono::seconds(50));
  EXPECT_TRUE(budget_->ends_soon());
  EXPECT_EQ(budget_->with_rounds_by_cost(request_.paired, {}, two_).max_rounds, 2)
      << "a third session would have to be waited for";
}

// An EfficientNetV2-S with constant weights was compiled for 42 s on an H200 host, and as long for each further
// process.
TEST_F(TuneBudgetTest, in_a_short_run_the_processes_of_the_trials_are_compared) {
  result_.run.workload.kind = workload::kPythonKind;
  result_.run.provider = result_.run.model.provider = schema::torch_providers().back().id;
  request_.max_time = std::chrono::seconds(150);
  request_.finalists = 2;
  add({}, false, 9e6);
  add(two_, false, 1e6);
  result_.outcomes["trial-2"].duration_s = 42.1;
  result_.outcomes["trial-2"].measurement->session_create_ns = 42e9;
  EXPECT_TRUE(budget().is_short());
  EXPECT_FALSE(budget_->is_very_short());
  schema::TrialSpec next;
  next.configuration = {{"intra_op_num_threads", 4}};
  budget_->expect_prepared({next});
  EXPECT_LT(budget_->expected_final_s(), 15);
  clock_.advance(std::chrono::seconds(100));
  EXPECT_TRUE(budget_->may_wait_for({next.configuration}));
  EXPECT_DOUBLE_EQ(budget_->prepared_for_s(next.configuration), 100);
  clock_.advance(std::chrono::seconds(40));
  EXPECT_FALSE(budget_->may_wait_for({next.configuration})) << "there is no more time to compare it";
  budget_->expect_made({next.configuration});
  EXPECT_LT(budget_->expected_trial_s(next.configuration), 2);
  request_.max_time = std::chrono::seconds(300);
  EXPECT_FALSE(budget().is_short());
  request_.max_time = std::chrono::seconds(60);
  EXPECT_TRUE(budget().is_very_short());
  result_.run.workload.kind = "onnx";
  EXPECT_FALSE(budget().is_short());
}

TEST_F(TuneBudgetTest, an_export_leaves_half_of_the_time_to_trials) {
  request_.max_time.reset();
  EXPECT_DOUBLE_EQ(budget().export_limit_s(), 120);
  request_.max_time = std::chrono::seconds(60);
  EXPECT_DOUBLE_EQ(budget().export_limit_s(), 30);
  clock_.advance(std::chrono::seconds(12));
  EXPECT_DOUBLE_EQ(budget_->export_limit_s(), 24);
  clock_.advance(std::chrono::seconds(100));
  EXPECT_DOUBLE_EQ(budget_->export_limit_s(), 0);
  request_.max_time = std::chrono::minutes(10);
  EXPECT_DOUBLE_EQ(budget().export_limit_s(), 120);
}

// ConvNeXt-T on an H200: ONNX Runtime's trial was 5 % faster than the compiled model's, which the search had left no
// time to compare; in fresh processes it was 21 % slower.
TEST_F(TuneBudgetTest, on_a_gpu_a_search_leaves_time_to_compare_the_fastest_of_two_engines) {
  const auto is_up = [&](const char* provider, const char* id, double latency_ns) {
    result_ = {};
    result_.run.provider = provider;
    request_.finalists = 2;
    request_.leave_one_out = true;
    result_.run.candidates.resize(2);
    result_.run.candidates[1].id = "onnx";
    result_.run.candidates[1].workload.emplace();
    add({}, false, 9e6);
    add(two_, false, 1e6);
    add(*id == 0 ? Configuration{{"intra_op_num_threads", 4}}
                 : Configuration{{std::string(schema::kCandidateKey), id}, {"intra_op_num_threads", 4}},
        false, latency_ns);
    auto& now = budget();
    clock_.advance(std::chrono::seconds(68));
    return now.is_up(10, {});
  };
  EXPECT_TRUE(is_up("cuda", "onnx", 1.05e6));
  EXPECT_FALSE(is_up("cuda", "onnx", 1.5e6));
  EXPECT_FALSE(is_up("cuda", "", 1.05e6));
  EXPECT_FALSE(is_up("cpu", "onnx", 1.05e6));
}

TEST_F(TuneBudgetTest, expects_by_what_this_run_measured) {
  const auto& now = budget();
  EXPECT_EQ(now.expected_final_s(), 0) << "nothing ranks yet";
  add({});
  add(two_, true);
  EXPECT_DOUBLE_EQ(now.expected_trial_s(two_), 0.1) << "an answer of the store says nothing of the time";
  EXPECT_DOUBLE_EQ(now.longest_trial_s(), 0.1);
  EXPECT_GT(now.expected_final_s(), 0);
  EXPECT_DOUBLE_EQ(now.pair_reserve_s(), now.expected_final_s());
  EXPECT_DOUBLE_EQ(now.expected_graph_s(), 0.05);
}

TEST_F(TuneBudgetTest, keeps_time_for_the_long_blocks_of_a_throttled_card) {
  request_.paired.rounds = request_.paired.max_rounds = 2;
  request_.paired.max_time_s = 3;
  request_.paired.settle_s = 0.002;
  request_.paired.discard_time_s = 0;
  add({});
  add(two_);
  for (auto& [key, outcome] : result_.outcomes) {
    outcome.duration_s = 0;
    outcome.measurement->session_create_ns = 0;
    outcome.measurement->flags.push_back(
        {schema::FlagLevel::notice, "throttled", fakes::legacy("the GPU throttled its clocks")});
  }
  EXPECT_NEAR(budget().expected_final_s(), 4 * 4 * (0.2 + 0.1), 0.1) << "of four ABBA rounds";
}

TEST_F(TuneBudgetTest, a_graph_is_read_where_it_is_quick) {
  add({});
  request_.fresh_finals = true;
  EXPECT_TRUE(budget().has_time_for_graph());
  result_.run.model.parameter_bytes = 3'000'000'000;
  EXPECT_FALSE(budget().has_time_for_graph()) << "weights that go through a file";
  result_.run.model.parameter_bytes = 0;
  request_.max_time = std::chrono::seconds(1);
  EXPECT_FALSE(budget().has_time_for_graph());
  request_.max_time.reset();
  EXPECT_TRUE(budget().has_time_for_graph());
  request_.fresh_finals = false;
  EXPECT_FALSE(budget().has_time_for_graph()) << "a quick search";
}

TEST_F(TuneBudgetTest, a_forecast_reaches_from_steady_times_to_times_that_never_are) {
  request_.max_time.reset();
  request_.plan.min_time_s = 0.2;
  request_.plan.warmup_max_s = 5;
  request_.plan.max_time_s = 5;
  request_.paired.min_time_s = 4;
  request_.paired.max_time_s = 30;
  request_.finalists = 3;
  request_.leave_one_out = false;
  const auto time = budget().forecast(40, 1);
  EXPECT_EQ(time.trials, 40U);
  EXPECT_EQ(time.comparisons, 3U);
  EXPECT_NEAR(time.low_s, 40 * 0.5 + 4, 1e-9);
  EXPECT_NEAR(time.high_s, 40 * 10.3 + 3 * 30.6, 1e-9);
  EXPECT_FALSE(time.limit_s);
  // Two trials at a time take half as long; comparisons run one after another.
  EXPECT_NEAR(budget().forecast(41, 2).high_s, 21 * 10.3 + 3 * 30.6, 1e-9);
  request_.leave_one_out = true;
  EXPECT_GT(budget().forecast(10, 1).comparisons, request_.finalists);
  request_.finalists = 0;
  EXPECT_EQ(budget().forecast(10, 1).comparisons, 0U);
}

TEST_F(TuneBudgetTest, max_time_bounds_both_ends_of_a_forecast) {
  request_.max_time = std::chrono::seconds(3);
  const auto time = budget().forecast(100, 1);
  EXPECT_EQ(time.limit_s, 3);
  EXPECT_EQ(time.low_s, 3);
  EXPECT_EQ(time.high_s, 3);
}

TEST_F(TuneBudgetTest, a_comparison_across_candidates_starts_two_processes_a_round) {
  const Configuration current;
  const Configuration same{{"intra_op_num_threads", 2}};
  const Configuration other{{"candidate", "openvino@1.24.1"}};
  for (const auto& configuration : {current, same, other}) add(configuration);
  auto plan = request_.paired;
  plan.rounds = plan.max_rounds = 4;
  const double within_s = budget().expected_pair_s(plan, true, current, same);
  const double across_s = budget().expected_pair_s(plan, true, current, other);
  plan.rounds = plan.max_rounds = 8;
  const double twice_as_many_s = budget().expected_pair_s(plan, true, current, other);
  EXPECT_GT(across_s, within_s);
  EXPECT_GT(twice_as_many_s - across_s, budget().expected_pair_s(plan, true, current, same) - within_s);
}

}  // namespace
}  // namespace ridgeline::campaign
