// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "fakes/words.hpp"
#include "search/memory_need.hpp"
#include "search/searcher.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;

TEST(MemoryNeed, grows_with_batch_sessions_graphs_and_tighter_limits) {
  const Configuration base{{"batch_size", 8}, {"prefer_nhwc", true}};
  EXPECT_TRUE(needs_no_less_memory(base.with("batch_size", 16), base));
  EXPECT_TRUE(needs_no_less_memory(base.with("parallel_sessions", 2), base));
  EXPECT_TRUE(needs_no_less_memory(base.with("concurrent_runs", 2), base));
  EXPECT_TRUE(needs_no_less_memory(base.with("enable_cuda_graph", true), base));
  EXPECT_TRUE(needs_no_less_memory(base.with("gpu_mem_limit_gb", 4.0), base));
  EXPECT_TRUE(needs_no_less_memory(base, base));
  EXPECT_FALSE(needs_no_less_memory(base.with("batch_size", 4), base));
  EXPECT_FALSE(needs_no_less_memory(base.with("batch_size", 16).with("gpu_mem_limit_gb", 8.0),
                                    base.with("gpu_mem_limit_gb", 4.0)))
      << "a larger batch under a wider limit may fit";
  EXPECT_FALSE(needs_no_less_memory(base.with("batch_size", 16).without("prefer_nhwc"), base)) << "another layout";
  EXPECT_EQ(hungrier_setting(base.with("batch_size", 16), base), "batch_size");
  EXPECT_EQ(hungrier_setting(base, base), "");
}

SearchSpace batches() {
  return {{{"batch_size", {2, 4, 8, 16, 32}}, {"prefer_nhwc", {true}}, {"parallel_sessions", {2}}}, {}, {}};
}

/// Batches above four run out of memory; larger ones are faster an item.
struct Sweep {
  std::vector<Configuration> tried;
  std::vector<schema::PrunedParam> left_out;
};

Sweep run(const std::string& strategy) {
  const auto space = batches();
  const auto searcher = make_searcher(strategy, space, {});
  Sweep sweep;
  while (auto proposal = (*searcher)->propose()) {
    sweep.tried.push_back(proposal->configuration);
    const auto batch = proposal->configuration.get_or("batch_size", 1).as_number();
    Observation seen;
    seen.out_of_memory = batch > 4;
    if (!seen.out_of_memory) seen.cost = seen.cost_low = seen.cost_high = 1e6 / batch;
    (*searcher)->observe(*proposal, seen);
  }
  sweep.left_out = (*searcher)->left_out();
  return sweep;
}

TEST(Searcher, a_batch_sweep_goes_no_further_up_once_memory_has_run_out) {
  for (const auto* strategy : {"grid", "adaptive"}) {
    SCOPED_TRACE(strategy);
    const auto sweep = run(strategy);
    int ran_out = 0;
    for (const auto& configuration : sweep.tried)
      if (configuration.get_or("batch_size", 1).as_integer() > 4) {
        EXPECT_EQ(configuration.get_or("batch_size", 1).as_integer(), 8) << configuration.to_text();
        EXPECT_FALSE(configuration.contains("parallel_sessions")) << configuration.to_text();
        ++ran_out;
      }
    EXPECT_GE(ran_out, 1);
    EXPECT_LE(ran_out, 2) << "once a layout";
    EXPECT_TRUE(std::any_of(sweep.left_out.begin(), sweep.left_out.end(), [](const auto& entry) {
      return entry.key == "batch_size" && fakes::text_of(entry.reason) == "not tried: batch_size=8 ran out of memory";
    }));
  }
}

}  // namespace
}  // namespace ridgeline::search
