// SPDX-License-Identifier: Apache-2.0
// A/A: settings that do the same, in simulated time on machines that are not quiet. Nothing may be recommended.
#include <gtest/gtest.h>

#include "fakes/simulated_tune.hpp"
#include "fakes/temporary_folder.hpp"

namespace ridgeline::campaign {
namespace {

/// Whether a search over three values of one setting that all do the same says to change it.
bool recommends_change(const std::string& machine, std::uint64_t seed, bool quick) {
  const fakes::TemporaryFolder folder;
  auto request = fakes::simulated_tune_request("surface=flat," + machine, seed, 2, folder.path());
  request.space.only_listed = true;
  request.space.values = {{"graph_optimization_level", {"all", "extended", "layout"}}};
  if (quick) fakes::ask_quick(request);
  return fakes::simulated_tune(request, folder.path()).run.verdict->decision == schema::Decision::change;
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
