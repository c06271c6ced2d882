// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/recommendation.hpp"

#include <gtest/gtest.h>

namespace ridgeline::campaign {
namespace {

using schema::Configuration;

schema::TuneRun run_recommending(Configuration configuration) {
  schema::TuneRun run;
  run.provider = "cpu";
  run.verdict.emplace();
  run.verdict->decision = schema::Decision::change;
  run.verdict->configuration = std::move(configuration);
  return run;
}

// Otherwise the file would mean a mixture that nobody measured.
TEST(Recommendation, sets_back_what_another_file_says_beside_it) {
  const auto run = run_recommending({{"dynamic_block_base", 4}});
  const Configuration file{{"graph_optimization_level", "basic"}, {"intra_op_num_threads", 1}};
  EXPECT_EQ(
      settings_to_write(run, as_seen_by(run, file)),
      (Configuration{{"dynamic_block_base", 4}, {"graph_optimization_level", "all"}, {"intra_op_num_threads", 0}}));
}

TEST(Recommendation, writes_nothing_into_a_file_that_means_the_same) {
  const auto run = run_recommending({{"dynamic_block_base", 4}});
  const Configuration file{{"dynamic_block_base", 4}, {"graph_optimization_level", "all"}};
  EXPECT_TRUE(settings_to_write(run, as_seen_by(run, file)).empty());
}

TEST(Recommendation, leaves_alone_what_the_run_did_not_look_at) {
  auto run = run_recommending({{"intra_op_num_threads", 2}, {"batch_size", 8}});
  const Configuration file{{"cudnn_conv_algo_search", "HEURISTIC"}, {"batch_size", 4}};
  EXPECT_EQ(settings_to_write(run, as_seen_by(run, file)), (Configuration{{"intra_op_num_threads", 2}}));
  run.space = {{"batch_size", {4, 8}}};
  EXPECT_EQ(settings_to_write(run, as_seen_by(run, file)),
            (Configuration{{"intra_op_num_threads", 2}, {"batch_size", 8}}));
}

}  // namespace
}  // namespace ridgeline::campaign
