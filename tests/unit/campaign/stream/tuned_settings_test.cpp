// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/tuned_settings.hpp"
#include "fakes/words.hpp"

#include <gtest/gtest.h>

namespace ridgeline::campaign {
namespace {

/// A run whose answer is to change settings.
schema::TuneRun tuned_run() {
  schema::TuneRun run;
  run.id = "20261121-081500-3f2a";
  run.provider = "cuda";
  run.workload.kind = "onnx";
  run.workload.location = "det.onnx";
  run.workload.content_sha256 = "abc";
  run.runtime.name = "onnxruntime";
  run.runtime.library_path = "/x/libonnxruntime.so";
  run.verdict.emplace();
  run.verdict->decision = schema::Decision::change;
  run.verdict->configuration = {{"intra_op_num_threads", 2},
                                {"batch_size", 4},
                                {"io_binding", "device"},
                                {"cudnn_conv_algo_search", "HEURISTIC"}};
  return run;
}

TEST(TunedSettings, keep_cuda_graphs_that_the_pipeline_captures_itself_and_no_others) {
  schema::Configuration configuration{{"enable_cuda_graph", true}, {"gpu_graph_id", 3}, {"prefer_nhwc", true}};
  EXPECT_TRUE(take_out_graphs(configuration).empty());
  EXPECT_EQ(configuration, (schema::Configuration{{"enable_cuda_graph", true}, {"prefer_nhwc", true}}));
  schema::Configuration off{{"enable_cuda_graph", false}, {"trt_cuda_graph_enable", true}};
  EXPECT_EQ(take_out_graphs(off), std::vector<std::string>{"trt_cuda_graph_enable=true"});
  EXPECT_EQ(off, (schema::Configuration{{"enable_cuda_graph", false}}));
  EXPECT_TRUE(take_out_graphs(off).empty());
}

TEST(TunedSettings, are_what_the_run_recommends_for_sessions) {
  const auto tuned = tuned_settings(tuned_run());
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_EQ(tuned->run_id, "20261121-081500-3f2a");
  EXPECT_EQ(tuned->provider, "cuda");
  EXPECT_EQ(tuned->where.library, "/x/libonnxruntime.so");
  EXPECT_EQ(tuned->content_sha256, "abc");
  EXPECT_EQ(tuned->configuration,
            (schema::Configuration{{"intra_op_num_threads", 2}, {"cudnn_conv_algo_search", "HEURISTIC"}}));
  EXPECT_EQ(tuned->left_out, (std::vector<std::string>{"batch_size=4", "io_binding=device"}));
  EXPECT_EQ(settings_for_provider(tuned->configuration, "cpu"), (schema::Configuration{{"intra_op_num_threads", 2}}));
}

TEST(TunedSettings, are_of_the_candidate_that_won) {
  auto run = tuned_run();
  schema::Candidate candidate;
  candidate.id = "openvino@1.24.1";
  candidate.provider = "openvino";
  candidate.runtime.name = "onnxruntime";
  candidate.runtime.library_path = "/y/libonnxruntime.so";
  candidate.plugin = schema::ProviderPlugin{"/y/plugin.so", "", "OpenVINOExecutionProvider", "", "CPU"};
  run.candidates = {candidate};
  run.verdict->configuration = {{std::string(schema::kCandidateKey), candidate.id}, {"intra_op_num_threads", 3}};
  auto tuned = tuned_settings(run);
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_EQ(tuned->provider, "openvino");
  EXPECT_EQ(tuned->where.library, "/y/libonnxruntime.so");
  ASSERT_EQ(tuned->where.plugins.size(), 1U);
  EXPECT_EQ(tuned->where.plugins[0].library_path, "/y/plugin.so");
  EXPECT_EQ(tuned->where.plugins[0].name, "OpenVINOExecutionProvider");
  EXPECT_EQ(tuned->configuration, (schema::Configuration{{"intra_op_num_threads", 3}}));
  run.candidates.clear();
  EXPECT_FALSE(tuned_settings(run));
}

TEST(TunedSettings, need_a_recommendation_that_a_pipeline_can_run) {
  auto run = tuned_run();
  run.verdict->decision = schema::Decision::none;
  run.verdict->reason = fakes::legacy("no trial ran");
  auto tuned = tuned_settings(run);
  ASSERT_FALSE(tuned);
  EXPECT_EQ(tuned.error().message, "--settings 20261121-081500-3f2a: the run has no recommendation: no trial ran");
  run.verdict.reset();
  EXPECT_FALSE(tuned_settings(run));
  run = tuned_run();
  run.workload.kind = "python";
  run.runtime.name = "torch";
  tuned = tuned_settings(run);
  ASSERT_FALSE(tuned);
  EXPECT_NE(tuned.error().message.find("a pipeline runs ONNX models"), std::string::npos) << tuned.error().message;
}

}  // namespace
}  // namespace ridgeline::campaign
