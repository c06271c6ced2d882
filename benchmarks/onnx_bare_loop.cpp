// SPDX-License-Identifier: Apache-2.0
// Our measured median against a bare C-API loop over the same model and settings, interleaved. Goal: within 1 % at 100
// us.
//   cmake --preset bench && cmake --build build/bench --target onnx_bare_loop && build/bench/bin/onnx_bare_loop [ROWS]
// The model is one MatMul, [ROWS, 512] x [512, 512], in a single thread; 16 rows take about 100 us on a recent core.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <onnxruntime_c_api.h>

#include "fakes/tiny_onnx.hpp"
#include "measure/measurement_session.hpp"
#include "workload/onnx/ort_library.hpp"
#include "workload/onnx/ort_workload.hpp"

namespace {

using namespace ridgeline;  // a program, not a library

constexpr std::int64_t kWidth = 512;
constexpr int kRounds = 31;
constexpr int kRuns = 500;
constexpr double kGoalRatio = 0.01;
constexpr std::size_t kAlignment = 64;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

[[noreturn]] void give_up(const std::string& reason) {
  fmt::print(stderr, "onnx_bare_loop: {}\n", reason);
  std::exit(1);
}

/// What a careful user would write by hand: no wrapper, buffers allocated once.
class BareLoop {
 public:
  BareLoop(const OrtApi& api, const std::string& model, std::int64_t rows) : api_(api) {
    const std::int64_t shape[] = {rows, kWidth};
    const auto count = static_cast<std::size_t>(rows * kWidth);
    x_.reset(static_cast<float*>(std::aligned_alloc(kAlignment, count * sizeof(float))));
    y_.reset(static_cast<float*>(std::aligned_alloc(kAlignment, count * sizeof(float))));
    std::fill_n(x_.get(), count, 0.5F);
    OrtSessionOptions* options = nullptr;
    OrtMemoryInfo* memory = nullptr;
    check(api_.CreateEnv(ORT_LOGGING_LEVEL_ERROR, "bare", &env_));
    check(api_.CreateSessionOptions(&options));
    check(api_.SetIntraOpNumThreads(options, 1));
    check(api_.CreateSession(env_, model.c_str(), options, &session_));
    api_.ReleaseSessionOptions(options);
    check(api_.CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
    const auto bytes = count * sizeof(float);
    check(api_.CreateTensorWithDataAsOrtValue(memory, x_.get(), bytes, shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                              &input_));
    check(api_.CreateTensorWithDataAsOrtValue(memory, y_.get(), bytes, shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                              &output_));
    api_.ReleaseMemoryInfo(memory);
  }
  BareLoop(const BareLoop&) = delete;
  BareLoop& operator=(const BareLoop&) = delete;
  ~BareLoop() {
    api_.ReleaseValue(input_);
    api_.ReleaseValue(output_);
    api_.ReleaseSession(session_);
    api_.ReleaseEnv(env_);
  }

  double median_ns(int warmup, int runs) {
    for (int run = 0; run < warmup; ++run) infer();
    std::vector<double> times(static_cast<std::size_t>(runs));
    for (auto& time : times) {
      const auto start = std::chrono::steady_clock::now();
      infer();
      time = static_cast<double>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
    }
    return median(std::move(times));
  }

 private:
  void check(OrtStatus* status) const {
    if (status != nullptr) give_up(api_.GetErrorMessage(status));
  }
  void infer() {
    const char* inputs[] = {"x"};
    const char* outputs[] = {"y"};
    check(api_.Run(session_, nullptr, inputs, &input_, 1, outputs, 1, &output_));
  }

  const OrtApi& api_;
  struct Free {
    void operator()(float* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<float, Free> x_;  // aligned as ONNX Runtime aligns its own buffers: worth 1 % at 100 us
  std::unique_ptr<float, Free> y_;
  OrtEnv* env_ = nullptr;
  OrtSession* session_ = nullptr;
  OrtValue* input_ = nullptr;
  OrtValue* output_ = nullptr;
};

double measured_median_ns(workload::Workload& workload, int warmup, int runs) {
  schema::MeasurementPlan plan;
  plan.warmup_runs = warmup;
  plan.warmup_max_s = 0;  // both sides warm up by count
  plan.runs = runs;
  plan.max_time_s = 60;
  measure::MeasureControl control;
  auto measured = measure::measure(workload, plan, control);
  if (!measured) give_up(measured.error().message);
  return median(std::move(measured->latency_ns));
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 1 ? std::max(1L, std::strtol(argv[1], nullptr, 10)) : 16;
  const auto size = std::to_string(rows);
  const auto width = std::to_string(kWidth);
  const auto path = std::filesystem::temp_directory_path() / fmt::format("onnx_bare_loop_{}.onnx", rows);
  fakes::TinyOnnx()
      .input("x", 1, {size, width})
      .floats("w", {kWidth, kWidth}, std::vector<float>(static_cast<std::size_t>(kWidth * kWidth), 0.01F))
      .output("y", 1, {size, width})
      .node("MatMul", {"x", "w"}, {"y"})
      .write(path);

  const auto search = workload::OrtSearchEnvironment::of_this_process();
  const auto library = workload::OrtLibrary::open("", search);
  if (!library) give_up(library.error().message);
  schema::TrialSpec spec;
  spec.workload.location = path.string();
  spec.configuration = {{"intra_op_num_threads", 1}};
  const auto ours = workload::make_ort_workload(spec, search);
  if (const auto prepared = ours->prepare(); !prepared) give_up(prepared.error().message);
  BareLoop bare(library->api(), path.string(), rows);

  constexpr int kWarmup = 50;
  std::vector<double> ratios;
  std::vector<double> bare_times;
  for (int round = 0; round < kRounds; ++round) {
    double bare_ns = 0;
    double ours_ns = 0;
    if (round % 2 == 0) {
      bare_ns = bare.median_ns(kWarmup, kRuns);
      ours_ns = measured_median_ns(*ours, kWarmup, kRuns);
    } else {
      ours_ns = measured_median_ns(*ours, kWarmup, kRuns);
      bare_ns = bare.median_ns(kWarmup, kRuns);
    }
    ratios.push_back(ours_ns / bare_ns);
    bare_times.push_back(bare_ns);
  }
  std::error_code error;
  std::filesystem::remove(path, error);
  std::sort(ratios.begin(), ratios.end());
  const double ratio = ratios[ratios.size() / 2];
  fmt::print("ONNX Runtime {}, MatMul [{}, {}] x [{}, {}], 1 thread, {} rounds of {} inferences\n", library->version(),
             rows, kWidth, kWidth, kWidth, kRounds, kRuns);
  fmt::print(
      "bare loop median {:.1f} us; ours / bare = {:.4f} (quartiles {:.4f} .. {:.4f}); goal {:.2f} .. {:.2f}: {}\n",
      median(bare_times) / 1e3, ratio, ratios[ratios.size() / 4], ratios[ratios.size() * 3 / 4], 1 - kGoalRatio,
      1 + kGoalRatio, std::abs(ratio - 1) <= kGoalRatio ? "met" : "missed");
  return std::abs(ratio - 1) <= kGoalRatio ? 0 : 1;
}
