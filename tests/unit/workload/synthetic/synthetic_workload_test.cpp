// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/synthetic_workload.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"
#include "workload/synthetic/synthetic_kind.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::Configuration;
using schema::TrialPhase;

schema::TrialSpec synthetic_spec(const std::string& text, Configuration configuration = {}) {
  schema::TrialSpec spec;
  spec.workload.kind = "synthetic";
  spec.workload.location = text;
  spec.configuration = std::move(configuration);
  return spec;
}

std::unique_ptr<Workload> make(const std::string& text, Configuration configuration = {}) {
  return make_synthetic_kind().make(synthetic_spec(text, std::move(configuration))).value();
}

std::vector<std::int64_t> durations(Workload& workload, int count, int caller = 0) {
  std::vector<std::int64_t> all;
  for (int i = 0; i < count; ++i) {
    const auto begun = workload.clock().now();
    EXPECT_TRUE(workload.step(caller)) << workload.last_error(caller).message;
    all.push_back((workload.clock().now() - begun).count());
  }
  return all;
}

TEST(SyntheticWorkload, takes_exactly_the_formula_s_time_without_noise) {
  const auto workload = make("surface=flat,base=3ms,noise=0,warmup=0,session_time=7ms", {{"batch_size", 2}});
  const auto begun = workload->clock().now();
  ASSERT_TRUE(workload->prepare());
  EXPECT_EQ(workload->clock().now() - begun, std::chrono::milliseconds(7));
  EXPECT_EQ(workload->session_create_time(), std::chrono::milliseconds(7));
  EXPECT_EQ(durations(*workload, 3), (std::vector<std::int64_t>(3, 6'000'000)));
  EXPECT_EQ(workload->items_per_step(), 2);
}

TEST(SyntheticWorkload, takes_on_the_load_that_a_file_holds_when_its_session_is_made) {
  fakes::TemporaryFolder folder;
  const auto file = folder / "load";
  const auto duration = [&]() -> std::int64_t {
    const auto workload = make("surface=flat,base=1ms,noise=0,warmup=0,load=" + file.string());
    const auto prepared = workload->prepare();
    return prepared ? durations(*workload, 1).front() : -1;
  };
  EXPECT_EQ(duration(), 1'000'000) << "no file, no load";
  std::ofstream(file) << "1.25\n";
  EXPECT_EQ(duration(), 1'250'000);
  for (const auto* wrong : {"much", "0", "1e9"}) {
    std::ofstream(file, std::ios::trunc) << wrong;
    EXPECT_EQ(duration(), -1) << wrong;
  }
}

TEST(SyntheticWorkload, reads_its_load_again_before_a_further_measurement) {
  fakes::TemporaryFolder folder;
  const auto file = folder / "load";
  std::ofstream(file) << "2";
  const auto workload = make("surface=flat,base=1ms,noise=0,warmup=0,load=" + file.string());
  ASSERT_TRUE(workload->prepare());
  ASSERT_TRUE(workload->enter_thread(0));
  EXPECT_EQ(durations(*workload, 1).front(), 2'000'000);
  std::ofstream(file, std::ios::trunc) << "3";
  ASSERT_TRUE(workload->enter_thread(0));
  EXPECT_EQ(durations(*workload, 1).front(), 3'000'000);
  std::ofstream(file, std::ios::trunc) << "rubbish";
  EXPECT_FALSE(workload->enter_thread(0));
  EXPECT_EQ(workload->last_error(0).code, ErrorCode::invalid_argument);
}

TEST(SyntheticKind, claims_a_gpu_only_where_the_environment_asks_for_it) {
  const auto kind = make_synthetic_kind();
  EXPECT_EQ(kind.probe("", {})->providers, std::vector<std::string>{"CPUExecutionProvider"});
  ::setenv("RIDGELINE_SYNTHETIC_GPU", "1", 1);
  EXPECT_EQ(kind.probe("", {})->providers.front(), "CUDAExecutionProvider");
  ::unsetenv("RIDGELINE_SYNTHETIC_GPU");
}

TEST(SyntheticWorkload, warms_up_from_four_times_the_time) {
  const auto workload = make("surface=flat,base=1ms,noise=0,warmup=5");
  ASSERT_TRUE(workload->prepare());
  const auto times = durations(*workload, 7);
  EXPECT_EQ(times[0], 4'000'000);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_LT(times[i], times[i - 1]);
  EXPECT_EQ(times[5], 1'000'000);
  EXPECT_EQ(times[6], 1'000'000);
}

TEST(SyntheticWorkload, repeats_its_noise_and_draws_anew_for_another_instance_seed_or_configuration) {
  const auto times = [](const std::string& text, const Configuration& configuration, std::uint64_t instance) {
    SyntheticWorkload workload(parse_synthetic_options(text).value(), synthetic_spec(text, configuration),
                               std::make_shared<const VirtualClock>(), instance);
    EXPECT_TRUE(workload.prepare());
    return durations(workload, 20);
  };
  const std::string text = "surface=flat,noise=5%";
  EXPECT_EQ(times(text, {}, 0), times(text, {}, 0));
  EXPECT_NE(times(text, {}, 0), times(text, {}, 1));
  EXPECT_NE(times(text, {}, 0), times(text + ",seed=2", {}, 0));
  EXPECT_NE(times(text, {}, 0), times(text, {{"execution_mode", "parallel"}}, 0));
}

TEST(SyntheticWorkload, has_noise_of_the_size_asked_for) {
  const auto workload = make("surface=flat,base=1ms,noise=5%,warmup=0");
  ASSERT_TRUE(workload->prepare());
  double sum = 0;
  double squares = 0;
  constexpr int kSteps = 4000;
  for (const auto time : durations(*workload, kSteps)) {
    const double logarithm = std::log(static_cast<double>(time) / 1e6);
    sum += logarithm;
    squares += logarithm * logarithm;
  }
  EXPECT_NEAR(sum / kSteps, 0, 0.004);
  EXPECT_NEAR(std::sqrt(squares / kSteps), 0.05, 0.003);
}

TEST(SyntheticWorkload, spikes_as_often_as_asked_for) {
  const auto workload = make("surface=flat,base=1ms,noise=0,warmup=0,spikes=10%,spike_size=3");
  ASSERT_TRUE(workload->prepare());
  int spikes = 0;
  for (const auto time : durations(*workload, 2000)) {
    EXPECT_TRUE(time == 1'000'000 || time == 3'000'000) << time;
    spikes += time == 3'000'000 ? 1 : 0;
  }
  EXPECT_NEAR(spikes, 200, 60);
}

TEST(SyntheticWorkload, drifts_within_its_amplitude) {
  const auto workload = make("surface=flat,base=1ms,noise=0,warmup=0,drift=20%,drift_period=100ms");
  ASSERT_TRUE(workload->prepare());
  const auto times = durations(*workload, 200);
  const auto [low, high] = std::minmax_element(times.begin(), times.end());
  EXPECT_NEAR(static_cast<double>(*low), 0.8e6, 0.01e6);
  EXPECT_NEAR(static_cast<double>(*high), 1.2e6, 0.01e6);
}

TEST(SyntheticWorkload, never_runs_backwards_however_long_a_step_is) {
  const auto workload = make("surface=flat,base=1h,slowdown=1000,spikes=100%,spike_size=1e6", {{"batch_size", 65536}});
  ASSERT_TRUE(workload->prepare());
  for (const auto time : durations(*workload, 20)) EXPECT_GT(time, 0);
}

TEST(SyntheticWorkload, keeps_a_core_busy_on_the_real_clock) {
  const auto workload = make("surface=flat,base=2ms,noise=0,warmup=0,clock=real,session_time=1ms");
  ASSERT_TRUE(workload->prepare());
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_TRUE(workload->step(0));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(2));
}

TEST(SyntheticWorkload, has_a_caller_for_each_session) {
  const auto workload = make("surface=flat,session_time=1ms", {{"parallel_sessions", 3}});
  ASSERT_TRUE(workload->prepare());
  EXPECT_EQ(workload->concurrency(), 3);
  EXPECT_EQ(workload->session_create_time(), std::chrono::milliseconds(3));
  EXPECT_NE(durations(*workload, 10, 0), durations(*workload, 10, 2)) << "callers draw their own noise";
}

TEST(SyntheticWorkload, tells_its_phase_as_it_goes) {
  std::atomic<TrialPhase> cell{TrialPhase::launch};
  const auto workload = make("");
  workload->share_phase(cell);
  ASSERT_TRUE(workload->prepare());
  EXPECT_EQ(workload->phase(), TrialPhase::create_session);
  EXPECT_EQ(cell.load(), TrialPhase::create_session);
  ASSERT_TRUE(workload->outputs());
  EXPECT_EQ(cell.load(), TrialPhase::verify);
}

TEST(SyntheticFaults, are_reported_by_cause_in_their_phase_and_only_there) {
  const auto code_of = [](const std::string& fault) {
    const auto prepared = make("fault=" + fault + "@create_session")->prepare();
    EXPECT_FALSE(prepared) << fault;
    return prepared ? ErrorCode::internal : prepared.error().code;
  };
  EXPECT_EQ(code_of("oom"), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of("fail"), ErrorCode::internal);
  EXPECT_EQ(code_of("invalid"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of("unsupported"), ErrorCode::unsupported);

  const auto workload = make("fault=fail@verify");
  ASSERT_TRUE(workload->prepare());
  EXPECT_TRUE(workload->step(0));
  EXPECT_FALSE(workload->outputs());
}

TEST(SyntheticFaults, show_once_in_each_caller_in_the_phase_that_is_published) {
  std::atomic<TrialPhase> cell{TrialPhase::launch};
  const auto workload = make("fault=fail@measure", {{"parallel_sessions", 2}});
  workload->share_phase(cell);
  ASSERT_TRUE(workload->prepare());
  cell = TrialPhase::warmup;
  EXPECT_TRUE(workload->step(0));
  cell = TrialPhase::measure;
  EXPECT_FALSE(workload->step(0));
  EXPECT_EQ(workload->last_error(0).code, ErrorCode::internal);
  EXPECT_TRUE(workload->step(0)) << "shown already";
  EXPECT_FALSE(workload->step(1));
}

TEST(SyntheticFaults, strike_only_the_configurations_they_are_bound_to) {
  const std::string text = "fault=oom@load_runtime if intra_op_num_threads=4";
  EXPECT_TRUE(make(text)->prepare());
  EXPECT_TRUE(make(text, {{"intra_op_num_threads", 2}})->prepare());
  EXPECT_FALSE(make(text, {{"intra_op_num_threads", 4}})->prepare());
}

schema::OutputError output_error_of(const std::string& text, const Configuration& configuration) {
  const auto reference = make(text, make_synthetic_kind().reference);
  const auto candidate = make(text, configuration);
  EXPECT_TRUE(reference->prepare());
  EXPECT_TRUE(candidate->prepare());
  return compare_outputs(reference->outputs().value(), candidate->outputs().value());
}

TEST(SyntheticOutputs, are_off_by_the_ratio_asked_for_where_the_conditions_hold) {
  const std::string text = "accuracy=1% if execution_mode=parallel,accuracy=2% if intra_op_num_threads=4";
  EXPECT_LT(output_error_of(text, {}).scaled_max_abs, 1e-6);
  EXPECT_GT(output_error_of(text, {}).scaled_max_abs, 0) << "rewriting rounds differently";
  EXPECT_NEAR(output_error_of(text, {{"execution_mode", "parallel"}}).scaled_max_abs, 0.01, 1e-4);
  EXPECT_NEAR(output_error_of(text, {{"execution_mode", "parallel"}, {"intra_op_num_threads", 4}}).scaled_max_abs, 0.03,
              1e-4);
}

TEST(SyntheticOutputs, equal_themselves_and_hold_nan_on_demand) {
  const Configuration exact{{"graph_optimization_level", "disable_all"}};
  EXPECT_EQ(output_error_of("", exact).max_abs, 0);
  EXPECT_EQ(output_error_of("fault=nan if execution_mode=parallel", {{"execution_mode", "parallel"}}).nonfinite, 1);
  EXPECT_EQ(output_error_of("fault=nan if execution_mode=parallel", exact).nonfinite, 0);
}

TEST(SyntheticOutputs, differ_by_seed_of_the_trial) {
  auto other = synthetic_spec("");
  other.workload.seed = 2;
  const auto a = make("");
  const auto b = make_synthetic_kind().make(other).value();
  ASSERT_TRUE(a->prepare());
  ASSERT_TRUE(b->prepare());
  EXPECT_NE(a->outputs().value().front().bytes, b->outputs().value().front().bytes);
}

TEST(SyntheticWorkload, reads_back_ignored_settings_as_their_defaults) {
  const auto settings = make("ignores=execution_mode", {{"execution_mode", "parallel"}, {"intra_op_num_threads", 4}})
                            ->effective_settings();
  EXPECT_EQ(settings.at("execution_mode"), "sequential");
  EXPECT_EQ(settings.at("intra_op_num_threads"), "4");
}

TEST(SyntheticKind, refuses_illegal_texts_settings_and_shapes) {
  const auto kind = make_synthetic_kind();
  EXPECT_FALSE(kind.make(synthetic_spec("noise=200%")));
  const auto illegal = kind.make(synthetic_spec("", {{"execution_mode", "sideways"}}));
  ASSERT_FALSE(illegal);
  EXPECT_NE(illegal.error().message.find("execution_mode=sideways"), std::string::npos) << illegal.error().message;

  InspectRequest request;
  request.workload.location = "synthetic:";
  EXPECT_EQ(kind.inspect(request)->shapes.front().front().dims, (std::vector<std::int64_t>{1, 3, 64, 64}));
  request.workload.shapes = {{{"x", {2, 3, 64, 64}}}};
  EXPECT_EQ(kind.inspect(request)->batch_axis_size, 2);
  for (const auto& shape : {schema::InputShape{"image", {1, 3, 64, 64}}, {"x", {1, 3}}, {"x", {0, 3, 64, 64}}}) {
    request.workload.shapes = {{shape}};
    const auto refused = kind.inspect(request);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("\"" + shape.name + "\""), std::string::npos) << refused.error().message;
    EXPECT_NE(refused.error().message.find("x:1x3x64x64"), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace ridgeline::workload
