// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/fake_executor.hpp"
#include "schema/execution_provider.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::fakes {

/// A grid over `values` alone on as many made-up H200s ("GPU-0" ...), for a FakeGpuPool; references go into the folder.
inline campaign::TuneRequest gpu_pool_request(const std::filesystem::path& folder, int gpus,
                                              std::vector<schema::Dimension> values) {
  campaign::TuneRequest request;
  request.workload.kind = "onnx";
  request.workload.location = "model.onnx";
  request.provider = "cuda";
  request.reference_folder = folder / "references";
  request.search = "grid";
  request.leave_one_out = false;
  request.space.only_listed = true;
  request.space.values = std::move(values);
  schema::Environment environment;
  environment.affinity = {0, 1};
  environment.usable_cpus = environment.physical_cores = environment.logical_cpus = 2;
  for (int index = 0; index < gpus; ++index) {
    schema::GpuDescription gpu;
    gpu.index = index;
    gpu.name = "NVIDIA H200";
    gpu.uuid = fmt::format("GPU-{}", index);
    environment.gpus.push_back(std::move(gpu));
  }
  request.environment = environment;
  return request;
}

/// Makes the request one for a PyTorch model on the first of these GPUs, with all of its settings, for an executor that
/// answers as_torch.
inline void ask_pytorch(campaign::TuneRequest& request) {
  request.workload.kind = workload::kPythonKind;
  request.workload.location = "infer.py:make";
  request.provider.clear();
  request.precision = "fp32";
  request.search = "adaptive";
  request.space.values.clear();
  request.space.only_listed = false;
  request.environment->usable_cpus = request.environment->logical_cpus = 16;
  request.environment->memory_available_bytes = 100'000'000'000;
  for (auto& gpu : request.environment->gpus) gpu.memory_free_bytes = 80'000'000'000;
}
inline void as_torch(FakeExecutor& executor) {
  const auto& row = schema::torch_providers().back();
  executor.model = {};
  executor.model.path = "infer.py:make";
  executor.model.provider = row.id;
  executor.model.outputs = {{"0", "float", {1, 10}, {"", ""}}};
  executor.model.shapes = {{{"0", {1, 4}}}};
  executor.runtime.emplace();
  executor.runtime->name = "torch";
  executor.runtime->version = "2.11.0";
  executor.runtime->providers = {row.library_name};
}

/// What the campaign answers to the request, with its records in `database`; an error fails the test.
inline campaign::TuneResult tuned(execute::Executor& executor, const FakeClock& clock,
                                  const std::filesystem::path& database, const campaign::TuneRequest& request) {
  auto store = store::Store::open(database);
  EXPECT_TRUE(store);
  campaign::CampaignObserver observer;
  auto result = campaign::TuneCampaign(executor, *store, clock, observer, [] { return false; }).run(request);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? std::move(*result) : campaign::TuneResult{};
}

}  // namespace ridgeline::fakes
