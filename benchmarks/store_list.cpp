// SPDX-License-Identifier: Apache-2.0
// How long the store takes with 10,000 trials in 100 runs.
//   cmake --preset bench && cmake --build build/bench --target store_list && build/bench/bin/store_list [TRIALS
//   [SAMPLES]]
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "schema/tune_run.hpp"
#include "store/store.hpp"

namespace {

using namespace ridgeline;  // a program, not a library

constexpr int kTrialsPerRun = 100;
constexpr double kListGoalMs = 200;

double ms_since(base::Nanoseconds start) { return base::to_seconds(base::system_clock().now() - start) * 1e3; }

schema::TrialSpec make_spec(int number) {
  schema::TrialSpec spec;
  spec.workload.kind = "onnx";
  spec.workload.location = "ch_PP-OCRv4_det_infer.onnx";
  spec.workload.content_sha256 = std::string(64, 'a');
  spec.workload.shapes = {{{"x", {1, 3, 640, 640}}}};
  spec.device = "cpu:bench/16";
  spec.runtime.name = "onnxruntime";
  spec.runtime.version = "1.29.0";
  spec.configuration.set("intra_op_num_threads", number % 64);
  spec.configuration.set("trial_number", number);
  return spec;
}

schema::TrialOutcome make_outcome(base::Random& random, int samples) {
  schema::TrialOutcome outcome;
  schema::Measurement measurement;
  for (int i = 0; i < samples; ++i)
    measurement.latency_ns.push_back(static_cast<double>(5'000'000 + random.below(200'000)));
  measurement.wall_ns = 5e6 * samples;
  for (int i = 0; i < 20; ++i) measurement.effective_settings.emplace(fmt::format("setting_{}", i), "value");
  outcome.measurement = std::move(measurement);
  outcome.measured_utc = "2026-11-21T08:15:00Z";
  return outcome;
}

/// Median and worst of 20 calls, in ms; the first call after opening is printed by itself.
template <typename Call>
bool report(const char* what, const Call& call, double goal_ms = 0) {
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    const auto start = base::system_clock().now();
    if (!call()) {
      fmt::print("{}: failed\n", what);
      return false;
    }
    times.push_back(ms_since(start));
  }
  const double first = times.front();
  std::sort(times.begin() + 1, times.end());
  fmt::print("{:<44} first {:8.3f} ms   median {:8.3f} ms   worst {:8.3f} ms", what, first, times[11], times.back());
  const bool good = goal_ms == 0 || std::max(first, times.back()) < goal_ms;
  if (goal_ms > 0) fmt::print("   goal {:.0f} ms: {}", goal_ms, good ? "met" : "MISSED");
  fmt::print("\n");
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 10000;
  const int samples = argc > 2 ? std::atoi(argv[2]) : 500;
  if (trials < kTrialsPerRun || samples < 1) {
    fmt::print(stderr, "usage: store_list [TRIALS >= {}] [SAMPLES >= 1]\n", kTrialsPerRun);
    return 2;
  }
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("ridgeline_bench_{}.db", base::system_clock().now().count());
  const auto remove = [&path] {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::error_code ignored;
      std::filesystem::remove(path.string() + suffix, ignored);
    }
  };
  base::Random random(1);
  bool good = true;
  {
    auto store = store::Store::open(path);
    if (!store) {
      fmt::print(stderr, "{}\n", store.error().message);
      return 1;
    }
    const auto start = base::system_clock().now();
    schema::TuneRun run;
    for (int number = 0; good && number < trials; ++number) {
      if (number % kTrialsPerRun == 0) {
        run = {};
        run.id = fmt::format("20261121-{:06}-0000", number);
        run.started_utc = fmt::format("2026-11-21T08:15:00Z+{:06}", number);
        run.workload = make_spec(0).workload;
      }
      const auto spec = make_spec(number);
      good = store->save_trial(spec, make_outcome(random, samples)).has_value();
      schema::TunedTrial trial;
      trial.id = number % kTrialsPerRun + 1;
      trial.key = spec.key();
      trial.configuration = spec.configuration;
      trial.reason = "grid";
      run.trials.push_back(std::move(trial));
      if ((number + 1) % kTrialsPerRun == 0) good = good && store->save_run(schema::to_run(run));
    }
    const double spent = ms_since(start);
    if (!good) {
      remove();
      fmt::print(stderr, "writing failed\n");
      return 1;
    }
    fmt::print("{} trials with {} samples each, {} runs: {:.1f} s to write, {:.3f} ms a trial\n", trials, samples,
               trials / kTrialsPerRun, spent / 1e3, spent / trials);
  }
  fmt::print("file {:.1f} MB\n", static_cast<double>(std::filesystem::file_size(path)) * 1e-6);

  good = report(
      "open + list_runs(all)",
      [&] {
        auto store = store::Store::open(path);
        return store && store->list_runs(SIZE_MAX)->size() == static_cast<std::size_t>(trials / kTrialsPerRun);
      },
      kListGoalMs);
  auto store = store::Store::open(path);
  if (!store) return 1;
  good = report(
             "list_runs(all)", [&] { return store->list_runs(SIZE_MAX).has_value(); }, kListGoalMs) &&
         good;
  good = report(
             "count_trials", [&] { return *store->count_trials() == static_cast<std::size_t>(trials); }, kListGoalMs) &&
         good;
  good = report(
             "load_run(latest)", [&] { return store->load<schema::TuneRun>("latest").has_value(); }, kListGoalMs) &&
         good;
  int number = 0;
  good = report("find_trial", [&] { return store->find_trial(make_spec(number++).key())->has_value(); }) && good;
  good = report("load_run(latest) + its 100 trials",
                [&] {
                  const auto run = store->load<schema::TuneRun>("latest");
                  if (!run) return false;
                  return std::all_of(run->trials.begin(), run->trials.end(),
                                     [&](const auto& trial) { return store->find_trial(trial.key)->has_value(); });
                }) &&
         good;
  const auto outcome = make_outcome(random, samples);
  good = report("save_trial", [&] { return store->save_trial(make_spec(trials + number++), outcome).has_value(); }) &&
         good;
  remove();
  return good ? 0 : 1;
}
