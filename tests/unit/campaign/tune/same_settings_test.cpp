// SPDX-License-Identifier: Apache-2.0
// A/A: settings that do the same, in simulated time on machines that are not quiet. Nothing may be recommended.
#include <memory>

#include <gtest/gtest.h>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/in_process_executor.hpp"
#include "fakes/temporary_folder.hpp"
#include "workload/synthetic/synthetic_kind.hpp"

namespace ridgeline::campaign {
namespace {

/// Whether a search over three values of one setting that all do the same says to change it.
bool recommends_change(const std::string& machine, std::uint64_t seed, bool quick) {
  const fakes::TemporaryFolder folder;
  const auto clock = std::make_shared<const workload::VirtualClock>();
  workload::WorkloadRegistry registry;
  registry.add(workload::make_synthetic_kind(clock));
  const auto executor = fakes::InProcessExecutor::make(registry, *clock).value();
  auto store = store::Store::open(folder / "results.db").value();
  TuneRequest request;
  request.workload = {"synthetic", fmt::format("surface=flat,{},seed={}", machine, seed)};
  request.workload.seed = request.seed = seed;
  request.provider = "cpu";
  request.use_store = false;
  request.check_accuracy = false;
  request.reference_folder = folder / "references";
  request.space.only_listed = true;
  request.space.values = {{"graph_optimization_level", {"all", "extended", "layout"}}};
  if (quick) {
    request.search = "quick";
    request.plan.max_time_s = 1.5;
    request.plan.warmup_max_s = 2;
    request.paired.abba_rounds = 8;
    request.paired.max_abba_rounds = 16;
    request.paired.max_time_s = 15;
    request.finalists = 2;
    request.paired.warmup = request.plan;
  }
  schema::Environment environment;
  environment.cpu_model = "simulated";
  environment.logical_cpus = environment.physical_cores = 2;
  environment.usable_cpus = 2;
  environment.affinity = {0, 1};
  request.environment = environment;
  CampaignObserver observer;
  const auto result = TuneCampaign(*executor, store, *clock, observer, [] { return false; }).run(request);
  EXPECT_TRUE(result) << result.error().message;
  return result && result->run.verdict->decision == schema::Decision::change;
}

TEST(SameSettings, are_recommended_in_at_most_one_of_twenty_runs) {
  int runs = 0;
  int changes = 0;
  for (const std::string machine :
       {"noise=2%", "noise=5%,drift=30%,drift_period=30s", "noise=5%,bursts=2x,duty=30%,mean=3s"})
    for (const bool quick : {true, false})
      for (std::uint64_t seed = 1; seed <= 10; ++seed, ++runs)
        changes += recommends_change(machine, seed, quick) ? 1 : 0;
  EXPECT_LE(changes * 20, runs) << changes << " of " << runs;
}

}  // namespace
}  // namespace ridgeline::campaign
