// SPDX-License-Identifier: Apache-2.0
#include "schema/run_request.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "schema/sweep.hpp"
#include "schema/training_run.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::schema {
namespace {

template <typename T>
void fill_common(T& request) {
  request.arguments = {"ridgeline", "tune", "my model's.onnx", "", "a\nb"};
  request.config_path = "/srv/my service/config.yaml";
  request.outputs = {"r.md", "r.html"};
  request.devices = "0,1";
  request.watch = true;
  request.use_store = false;
  request.max_time = std::chrono::nanoseconds(90'000'000'001);
}

/// The run's request after it went through the envelope and text.
template <typename T>
base::Json come_back(const T& run) {
  const auto text = base::dump_json(base::Json(to_run(run)));
  const auto read = base::parse_json(text, "run")->template get<Run>();
  EXPECT_FALSE(read.request.is_null());
  EXPECT_FALSE(read.details.contains("request"));
  const auto own = run_as<T>(read);
  EXPECT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->request.arguments, run.request.arguments);
  EXPECT_EQ(own->request.max_time, run.request.max_time);
  return own->request;
}

/// Each member must differ from its default, else nothing is shown by its coming back.
template <typename T>
void expect_all_told(const base::Json& request) {
  const base::Json untouched = T{};
  for (const auto& [key, value] : request.items()) EXPECT_NE(value, untouched.at(key)) << key;
}

TEST(RunRequest, of_tune_comes_back_whole) {
  TuneRun run;
  auto& request = run.request;
  fill_common(request);
  request.workload = {"onnx", "my model's.onnx", "", {{{"x", {1, 3}}}}, {{"y", "y.npy", ""}}, 3};
  request.provider = "cuda";
  request.tensor_location = "device";
  request.also = "onnx";
  request.save_onnx = "kept.onnx";
  request.ort_library = "ort.so";
  request.runtimes = {"/venv"};
  request.plugins.emplace_back().library_path = "/plugin.so";
  request.search = "random";
  request.objective = Objective::p99;
  request.constraints = {{"gpu_memory_gb", true, 2}};
  request.space.named = "classic";
  request.space.file = "space.yaml";
  request.space.values = {{"intra_op_num_threads", {1, 2}}};
  request.space.fixed.set("batch_size", 4);
  request.space.asked_by = {{"batch_size", "--batch 4"}};
  request.space.exclude = {"use_tf32"};
  request.space.constraints = {"intra_op_num_threads <= 8"};
  request.space.only_listed = true;
  request.space.always_set = {"batch_size"};
  request.plan.runs = 60;
  request.paired.abba_rounds = 8;
  request.finalists = 0;
  request.leave_one_out = false;
  request.random_budget = 7;
  request.min_effect = 0.05;
  request.accuracy_tolerance = 0.01;
  request.precision = "fp16";
  request.metric_loss = 0.02;
  request.check_accuracy = false;
  request.seed = 2;
  const auto back = come_back(run);
  EXPECT_EQ(back, base::Json(request));
  expect_all_told<TuneRequest>(back);
  expect_all_told<SpaceRequest>(back.at("space"));
}

TEST(RunRequest, of_bench_comes_back_whole) {
  BenchRun run;
  auto& request = run.request;
  fill_common(request);
  request.job.kind = "python";
  request.search = "grid";
  request.space.batches = {16};
  request.plan.steps += 1;
  request.tolerance = 0.1;
  request.headroom = 0.2;
  request.stability_steps = 500;
  request.short_stability_s = 2;
  request.diagnose = false;
  const auto back = come_back(run);
  EXPECT_EQ(back, base::Json(request));
  expect_all_told<BenchRequest>(back);
}

TEST(RunRequest, of_sweep_comes_back_whole) {
  SweepRun run;
  auto& request = run.request;
  fill_common(request);
  request.job.command = {"sh", "-c", "echo 'it''s'"};
  request.objective = {"speed", true};
  request.search = "random";
  request.trials = 3;
  request.seed = 2;
  request.repeats = 1;
  request.warmups = 1;
  request.min_effect = 0.1;
  request.tolerance = 0.1;
  request.keep_going = true;
  const auto back = come_back(run);
  EXPECT_EQ(back, base::Json(request));
  expect_all_told<SweepRequest>(back);
}

TEST(RunRequest, a_shell_reads_the_line_as_the_same_words) {
  EXPECT_EQ(shell_line({"ridgeline", "tune", "/srv/a.onnx", "--config", "my service.yaml", "it's", ""}),
            "ridgeline tune /srv/a.onnx --config 'my service.yaml' 'it'\\''s' ''");
}

}  // namespace
}  // namespace ridgeline::schema
