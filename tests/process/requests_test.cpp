// SPDX-License-Identifier: Apache-2.0
// Everything an executor is asked for, through a real worker.
#include <algorithm>
#include <ctime>

#include "base/clock.hpp"
#include "base/version.hpp"
#include "fakes/words.hpp"
#include "worker_fixture.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using schema::TrialStatus;

using RequestsTest = WorkerTest;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

TEST_F(RequestsTest, probe_names_the_runtime) {
  const auto executor = make_local_executor(worker_options());
  const auto identity = execute::probe(*executor, "synthetic", "");
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->name, "synthetic");
  EXPECT_EQ(identity->version, base::version());
  const auto unknown = execute::probe(*executor, "syntetic", "");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(unknown.error().message.find("synthetic"), std::string::npos) << unknown.error().message;
}

TEST_F(RequestsTest, inspect_describes_the_model) {
  const auto executor = make_local_executor(worker_options());
  workload::InspectRequest request;
  request.workload.kind = "synthetic";
  request.workload.location = "synthetic:surface=transformer";
  const auto model = execute::inspect(*executor, request);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_GT(model->node_counts.at("MatMul"), 0);
  EXPECT_EQ(model->batch_axis_size, 1);
  request.workload.location = "synthetic:surfaces=conv";
  const auto wrong = execute::inspect(*executor, request);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().hint.find("did you mean \"surface\""), std::string::npos) << wrong.error().message;
}

TEST_F(RequestsTest, a_trial_is_measured_as_the_formula_says) {
  const auto executor = make_local_executor(worker_options());
  const auto outcome = execute::run_trial(*executor, synthetic_spec("base=3ms,noise=1%"), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->status, TrialStatus::ok) << fakes::text_of(outcome->failure->message);
  EXPECT_NEAR(median(outcome->measurement->latency_ns), 3e6, 3e4);
  EXPECT_GT(outcome->measurement->peak_rss_bytes, 1 << 20);
  EXPECT_EQ(outcome->measured_utc.size(), 20U);
  EXPECT_GT(outcome->duration_s, 0);
  EXPECT_FALSE(outcome->output_error);
}

TEST_F(RequestsTest, peak_memory_is_of_the_trial_and_not_of_earlier_ones) {
  if (RL_UNDER_SANITIZER) GTEST_SKIP() << "sanitizers keep freed memory";
  const auto executor = make_local_executor(worker_options());
  const auto large = execute::run_trial(*executor, synthetic_spec("memory=200"), {});
  const auto small = execute::run_trial(*executor, synthetic_spec("memory=1"), {});
  ASSERT_TRUE(large && small);
  EXPECT_GT(large->measurement->peak_rss_bytes, std::int64_t{200} << 20U);
  const auto& flags = small->measurement->flags;
  const bool reset_refused = std::any_of(flags.begin(), flags.end(),
                                         [](const auto& flag) { return flag.code == "peak_rss_of_earlier_trials"; });
  EXPECT_TRUE(reset_refused || small->measurement->peak_rss_bytes < std::int64_t{150} << 20U);
}

TEST_F(RequestsTest, outputs_are_compared_with_the_reference) {
  const auto executor = make_local_executor(worker_options());
  TrialOptions options;
  options.reference_outputs = folder_ / "reference";
  auto reference = synthetic_spec("accuracy=1% if execution_mode=parallel");
  reference.configuration.set("graph_optimization_level", "disable_all");
  const auto noise = execute::make_reference(*executor, reference, options.reference_outputs);
  ASSERT_TRUE(noise) << noise.error().message;
  EXPECT_EQ(noise->scaled_max_abs, 0);
  EXPECT_EQ(noise->elements, 1000);

  auto candidate = reference;
  candidate.configuration.set("execution_mode", "parallel");
  const auto outcome = execute::run_trial(*executor, candidate, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->output_error);
  EXPECT_NEAR(outcome->output_error->scaled_max_abs, 0.01, 0.001);
  EXPECT_EQ(outcome->status, TrialStatus::ok) << "the caller judges";
}

TEST_F(RequestsTest, a_missing_reference_file_is_an_error_and_not_a_failed_trial) {
  const auto executor = make_local_executor(worker_options());
  TrialOptions options;
  options.reference_outputs = folder_ / "absent";
  const auto outcome = execute::run_trial(*executor, synthetic_spec(""), options);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("absent"), std::string::npos) << outcome.error().message;
}

TEST_F(RequestsTest, a_pair_shows_an_injected_slow_down) {
  const auto executor = make_local_executor(worker_options());
  schema::PairedSpec pair;
  pair.base = synthetic_spec("surface=flat,noise=1%,drift=10%,slowdown=5% if intra_op_num_threads=4");
  pair.other.set("intra_op_num_threads", 4);
  const auto outcome = execute::run_pair(*executor, pair);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->status, TrialStatus::ok) << fakes::text_of(outcome->failure->message);
  ASSERT_GE(outcome->measurement->blocks.size(), 16U);
  std::vector<double> a;
  std::vector<double> b;
  for (const auto& block : outcome->measurement->blocks) {
    ASSERT_FALSE(block.latency_ns.empty());
    (block.arm == 'A' ? a : b).push_back(median(block.latency_ns));
  }
  EXPECT_NEAR(median(b) / median(a), 1.05, 0.02);
}

TEST_F(RequestsTest, parallel_sessions_add_up_to_throughput) {
  const auto executor = make_local_executor(worker_options());
  TrialOptions options;
  options.throughput = true;
  auto spec = synthetic_spec("surface=flat,base=1ms,noise=0,warmup=0");
  spec.configuration.set("parallel_sessions", 4);
  const auto outcome = execute::run_trial(*executor, spec, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->status, TrialStatus::ok) << fakes::text_of(outcome->failure->message);
  EXPECT_EQ(outcome->measurement->concurrency, 4);
  EXPECT_NEAR(outcome->measurement->throughput_per_s(), 4000, 40);
}

TEST_F(RequestsTest, a_kept_session_serves_the_next_trial_that_differs_in_its_plan_alone) {
  const auto executor = make_local_executor(worker_options());
  TrialOptions keep;
  keep.keep_session = true;
  const auto session_time_ms = [&](schema::TrialSpec spec, const TrialOptions& options) {
    const auto outcome = execute::run_trial(*executor, spec, options);
    EXPECT_TRUE(outcome && outcome->measurement);
    return outcome && outcome->measurement ? outcome->measurement->session_create_ns * 1e-6 : -1;
  };
  auto spec = synthetic_spec("base=1ms,session_time=30ms");
  EXPECT_EQ(session_time_ms(spec, keep), 30);
  spec.plan.max_time_s = 0.2;
  EXPECT_EQ(session_time_ms(spec, keep), 0);
  EXPECT_EQ(session_time_ms(spec, {}), 0) << "uses what is there, and lets go of it";
  EXPECT_EQ(session_time_ms(spec, keep), 30);
  spec.configuration.set("intra_op_num_threads", 4);
  EXPECT_EQ(session_time_ms(spec, keep), 30) << "another configuration";
  ASSERT_TRUE(execute::inspect(*executor, {spec.workload, ""}));
  EXPECT_EQ(session_time_ms(spec, keep), 30) << "a request of another kind lets go of it";
  spec.configuration.set("parallel_sessions", 2);
  EXPECT_EQ(session_time_ms(spec, keep), 60);
  EXPECT_EQ(session_time_ms(spec, keep), 60) << "callers have threads of their own, which end with the measurement";
}

TEST_F(RequestsTest, a_kept_session_is_gone_after_a_trial_that_fails) {
  const auto executor = make_local_executor(worker_options());
  TrialOptions keep;
  keep.keep_session = true;
  const auto load = folder_ / "load";
  const auto spec = synthetic_spec("base=1ms,session_time=30ms,load=" + load.string());
  std::ofstream(load) << "1";
  ASSERT_TRUE(execute::run_trial(*executor, spec, keep));
  std::ofstream(load) << "rubbish";
  const auto failed = execute::run_trial(*executor, spec, keep);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->status, TrialStatus::invalid);
  std::ofstream(load) << "3";
  const auto again = execute::run_trial(*executor, spec, keep);
  ASSERT_TRUE(again && again->measurement);
  EXPECT_EQ(again->measurement->session_create_ns, 30e6);
  EXPECT_NEAR(median(again->measurement->latency_ns), 3e6, 1e5) << "the load of now";
}

TEST_F(RequestsTest, dispatching_a_trial_costs_the_parent_little) {
  const auto executor = make_local_executor(worker_options());
  auto spec = synthetic_spec("base=1ms,noise=0");
  spec.plan.runs = 10;
  spec.plan.warmup_max_s = 0.01;
  ASSERT_TRUE(execute::run_trial(*executor, spec, {}));
  const auto cpu_s = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  constexpr int kTrials = 50;
  const double before = cpu_s();
  for (int i = 0; i < kTrials; ++i) ASSERT_TRUE(execute::run_trial(*executor, spec, {}));
  EXPECT_LT((cpu_s() - before) / kTrials, RL_UNDER_SANITIZER ? 0.1 : 0.005);
}

}  // namespace
}  // namespace ridgeline::execute
