// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "execute/gpu_choice.hpp"
#include "fakes/tiny_onnx.hpp"
#include "fakes/words.hpp"
#include "gpu/gpu_inventory.hpp"
#include "process/worker_fixture.hpp"

namespace ridgeline::execute {

/// The first NVIDIA GPU that CUDA_VISIBLE_DEVICES allows; a test is skipped, with the reason, where there is none.
class DeviceTest : public WorkerTest {
 protected:
  void SetUp() override {
    WorkerTest::SetUp();
    constexpr const char* kDriver = "/proc/driver/nvidia/version";
    if (!std::filesystem::exists(kDriver)) GTEST_SKIP() << "no NVIDIA driver on this host: " << kDriver << " is absent";
    auto inventory = gpu::GpuInventory::read();
    if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) inventory.keep_visible(visible);
    if (inventory.gpus.empty()) GTEST_SKIP() << "no GPU to test on: " << fakes::text_of(inventory.note);
    gpu_ = inventory.gpus.front();
  }

  schema::GpuDescription gpu_;
};

/// Real workers on that GPU; skipped, too, where ONNX Runtime or its CUDA provider does not load.
class DeviceTrialTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    if (std::getenv("RIDGELINE_ORT_LIBRARY") == nullptr) ::setenv("ONNXRUNTIME_ROOT", RL_TEST_ORT_ROOT, 0);
    make_executor();
    const auto runtime = execute::probe(*executor_, "onnx", "");
    if (!runtime) GTEST_SKIP() << runtime.error().message;
    const auto& providers = runtime->providers;
    if (std::find(providers.begin(), providers.end(), "CUDAExecutionProvider") == providers.end())
      GTEST_SKIP() << runtime->library_path << " has no CUDA provider; scripts/fetch_onnxruntime.sh --gpu fetches one";
    if (const auto note = runtime->provider_notes.find("cuda"); note != runtime->provider_notes.end())
      GTEST_SKIP() << fakes::text_of(note->second.reason());
  }
  void TearDown() override {
    executor_.reset();
    WorkerTest::TearDown();
  }
  void make_executor(WorkerOptions options = worker_options()) {
    for (auto& variable : execute::gpu_environment(gpu_)) options.environment.push_back(std::move(variable));
    executor_ = make_local_executor(std::move(options));
  }

  schema::TrialSpec spec(const fakes::TinyOnnx& model, std::vector<std::int64_t> dims,
                         schema::Configuration configuration = {}) {
    schema::TrialSpec spec;
    spec.workload.kind = "onnx";
    spec.workload.location = model.write(folder_ / "model.onnx");
    spec.workload.shapes = {{{"x", std::move(dims)}}};
    spec.provider = "cuda";
    spec.device = "gpu:" + gpu_.uuid;
    spec.configuration = std::move(configuration);
    spec.plan.max_time_s = 0.3;
    return spec;
  }
  schema::TrialOutcome run(const schema::TrialSpec& spec, const TrialOptions& options = {}) {
    auto outcome = execute::run_trial(*executor_, spec, options);
    if (outcome) return std::move(*outcome);
    ADD_FAILURE() << outcome.error().message;
    schema::TrialOutcome failed;
    failed.status = schema::TrialStatus::failed;
    return failed;
  }
  static std::string message_of(const schema::TrialOutcome& outcome) {
    return outcome.failure ? fakes::text_of(outcome.failure->message) : std::string();
  }

  std::unique_ptr<Executor> executor_;
};

/// Two convolutions, [N, 8, H, W] to [N, 8, H - 4, W - 4]; weights that are neither alike nor tiny.
inline fakes::TinyOnnx convolutions(const std::string& batch = "1", const std::string& size = "64") {
  std::vector<float> weights(8 * 8 * 3 * 3);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.1F * std::sin(1.7F * static_cast<float>(i));
  return fakes::TinyOnnx()
      .input("x", 1, {batch, "8", size, size})
      .output("y", 1, {batch, "8", "OH", "OW"})
      .floats("w", {8, 8, 3, 3}, weights)
      .node("Conv", {"x", "w"}, {"a"})
      .node("Relu", {"a"}, {"b"})
      .node("Conv", {"b", "w"}, {"y"});
}

/// x [2, 3, 8] times [8, 16], and a bias.
inline fakes::TinyOnnx biased_product() {
  std::vector<float> weights(8 * 16);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::sin(1.7F * static_cast<float>(i));
  return fakes::TinyOnnx()
      .input("x", 1, {"2", "3", "8"})
      .output("y", 1, {"2", "3", "16"})
      .floats("w", {8, 16}, weights)
      .floats("bias", {16}, {weights.begin(), weights.begin() + 16})
      .node("MatMul", {"x", "w"}, {"a"})
      .node("Add", {"a", "bias"}, {"y"});
}

/// A hundred small products one after the other, x [1, 512] by [512, 512]: what begins a kernel matters.
inline fakes::TinyOnnx chain() {
  constexpr int kLinks = 100;
  std::vector<float> weights(512 * 512);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.06F * std::sin(1.7F * static_cast<float>(i));
  auto model =
      fakes::TinyOnnx().input("x", 1, {"1", "512"}).output("y", 1, {"1", "512"}).floats("w", {512, 512}, weights);
  std::string last = "x";
  for (int link = 0; link < kLinks; ++link) {
    const auto next = link + 1 == kLinks ? std::string("y") : "a" + std::to_string(link);
    model.node("MatMul", {last, "w"}, {next});
    last = next;
  }
  return model;
}

/// x [N, 1] times [1, 131072]: 512 KiB of GPU memory an item, of which one number leaves the model.
inline fakes::TinyOnnx memory_eater() {
  constexpr std::int64_t kColumns = 131072;
  return fakes::TinyOnnx()
      .input("x", 1, {"N", "1"})
      .output("y", 1, {"1", "1"})
      .floats("w", {1, kColumns}, std::vector<float>(kColumns, 0.5F))
      .node("MatMul", {"x", "w"}, {"a"})
      .node("ReduceMax", {"a"}, {"y"});
}
constexpr std::int64_t kEatenBytesPerItem = 131072 * 4;

}  // namespace ridgeline::execute
