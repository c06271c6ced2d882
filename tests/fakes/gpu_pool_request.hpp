// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/fake_clock.hpp"

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
