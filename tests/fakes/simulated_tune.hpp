// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/in_process_executor.hpp"
#include "workload/synthetic/synthetic_kind.hpp"

// Whole runs of `tune` in simulated time, on machines that a synthetic workload describes (synthetic_options.hpp).
namespace ridgeline::fakes {

/// On a machine of `cores` CPUs, with nothing taken from the store or put into the outputs' comparison.
inline campaign::TuneRequest simulated_tune_request(const std::string& location, std::uint64_t seed, int cores,
                                                    const std::filesystem::path& folder) {
  campaign::TuneRequest request;
  request.workload = {"synthetic", fmt::format("{},seed={}", location, seed)};
  request.workload.seed = request.seed = seed;
  request.provider = "cpu";
  request.use_store = false;
  request.check_accuracy = false;
  request.reference_folder = folder / "references";
  schema::Environment environment;
  environment.cpu_model = "simulated";
  environment.logical_cpus = environment.physical_cores = cores;
  environment.usable_cpus = cores;
  for (int cpu = 0; cpu < cores; ++cpu) environment.affinity.push_back(cpu);
  request.environment = environment;
  return request;
}

/// What `tune --quick` asks for.
inline void ask_quick(campaign::TuneRequest& request) {
  request.search = "quick";
  request.plan.max_time_s = 1.5;
  request.plan.warmup_max_s = 2;
  request.paired.abba_rounds = 8;
  request.paired.max_abba_rounds = 16;
  request.paired.max_time_s = 15;
  request.paired.warmup = request.plan;
  request.finalists = 2;
}

/// What scripts/demo.sh asks for examples/config.yaml.
inline void ask_as_demo(campaign::TuneRequest& request) {
  request.current = {{"intra_op_num_threads", 1}, {"graph_optimization_level", "basic"}};
  ask_quick(request);
  request.leave_one_out = false;
  request.max_time = std::chrono::seconds(110);
}

/// The answer, with its records in the folder's results.db; an error fails the test.
inline campaign::TuneResult simulated_tune(const campaign::TuneRequest& request, const std::filesystem::path& folder,
                                           campaign::CampaignObserver* observer = nullptr) {
  const auto clock = std::make_shared<const workload::VirtualClock>();
  workload::WorkloadRegistry registry;
  registry.add(workload::make_synthetic_kind(clock));
  const auto executor = InProcessExecutor::make(registry, *clock);
  auto store = store::Store::open(folder / "results.db");
  if (!executor || !store) {
    ADD_FAILURE() << "no executor or no store";
    return {};
  }
  campaign::CampaignObserver nobody;
  auto result = campaign::TuneCampaign(**executor, *store, *clock, observer != nullptr ? *observer : nobody, [] {
                  return false;
                }).run(request);
  EXPECT_TRUE(result) << result.error().message;
  return result ? std::move(*result) : campaign::TuneResult{};
}

}  // namespace ridgeline::fakes
