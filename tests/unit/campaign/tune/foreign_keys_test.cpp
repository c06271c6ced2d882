// SPDX-License-Identifier: Apache-2.0
// Keys of config.yaml that mean nothing to what is tuned: left alone, named once, and part of no answer.
#include <algorithm>

#include <gtest/gtest.h>

#include "campaign/tune/recommendation.hpp"
#include "campaign/tune/tune_kind.hpp"
#include "fakes/tune_campaign_fixture.hpp"
#include "fakes/words.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::campaign {
namespace {

using schema::Configuration;
using schema::Value;

class ForeignKeysTest : public fakes::TuneCampaignFixture {
 protected:
  void SetUp() override {
    TuneCampaignFixture::SetUp();
    request_.provider = "cpu";
    request_.config_path = "/x/config.yaml";
    // As the runtime does with an option of another provider.
    executor_.failure = [](const Configuration& c) -> std::optional<schema::TrialStatus> {
      for (const auto& [key, value] : c.values())
        if (!schema::is_for(*schema::find_param(key), "cpu")) return schema::TrialStatus::invalid;
      return std::nullopt;
    };
  }
  static Configuration settings_in(const std::string& text) {
    const auto found = config::read_settings(text, "config.yaml", {});
    Configuration settings;
    EXPECT_TRUE(found);
    if (found)
      for (const auto& setting : *found) settings.set(setting.key, setting.value);
    return settings;
  }
  static std::vector<std::string> notes_with(const schema::TuneRun& run, const std::string& words) {
    std::vector<std::string> found;
    for (const auto& note : run.notes)
      if (fakes::text_of(note).find(words) != std::string::npos) found.push_back(fakes::text_of(note));
    return found;
  }
};

TEST_F(ForeignKeysTest, are_left_alone_and_the_rest_of_the_file_is_compared_with) {
  request_.current = {{"cudnn_conv_algo_search", "HEURISTIC"},
                      {"gpu_mem_limit_gb", 8},
                      {"trt_fp16_enable", true},
                      {"intra_op_num_threads", 4}};
  request_.current_origins = {{"cudnn_conv_algo_search", "config.yaml:1 a"},
                              {"intra_op_num_threads", "config.yaml:2 b"}};
  const auto run = must_run().run;
  EXPECT_EQ(run.current, (Configuration{{"intra_op_num_threads", 4}}));
  EXPECT_EQ(run.current_origins, std::vector<std::string>{"config.yaml:2 b"});
  const auto notes = notes_with(run, "left alone");
  ASSERT_EQ(notes.size(), 1U) << "one note names them all";
  EXPECT_EQ(notes.front(),
            "config.yaml: left alone: cudnn_conv_algo_search, gpu_mem_limit_gb (of provider cuda); trt_fp16_enable (of "
            "provider tensorrt); the current configuration is cpu's defaults with intra_op_num_threads=4");
  ASSERT_EQ(run.verdict->decision, schema::Decision::change) << fakes::text_of(run.verdict->reason);
  ASSERT_TRUE(run.verdict->gain) << "a change is compared";
  ASSERT_EQ(run.verdict->changes->size(), 1U);
  EXPECT_EQ(run.verdict->changes->front().key, "intra_op_num_threads");
  EXPECT_TRUE(std::all_of(run.pruned.begin(), run.pruned.end(),
                          [](const auto& one) { return one.key != "cudnn_conv_algo_search"; }));
}

TEST_F(ForeignKeysTest, with_a_value_that_nobody_can_read_are_left_alone_too) {
  const std::string text = "cudnn_conv_algo_search: FASTEST\ngpu_mem_limit_gb: lots\nintra_op_num_threads: 4\n";
  EXPECT_FALSE(config::read_settings(text, "config.yaml", {}));
  std::vector<config::UnreadSetting> unread;
  ASSERT_TRUE(config::read_settings(text, "config.yaml", {}, &unread));
  ASSERT_EQ(unread.size(), 2U);
  request_.current = {{"intra_op_num_threads", 4}};
  request_.unread = unread;
  const auto tuned = must_run().run;
  ASSERT_EQ(notes_with(tuned, "left alone").size(), 1U);
  EXPECT_EQ(notes_with(tuned, "left alone").front(),
            "config.yaml: left alone: cudnn_conv_algo_search = FASTEST, gpu_mem_limit_gb = lots (of provider cuda); "
            "the current configuration is cpu's defaults with intra_op_num_threads=4");
  // Written too, as the change is not about them.
  const auto change = tune_change(tuned, text, {"config.yaml", {}, false, {}});
  ASSERT_TRUE(change) << change.error().message;
  EXPECT_NE(change->patch.text.find("cudnn_conv_algo_search: FASTEST\n"), std::string::npos);
  // What is tuned has no such excuse.
  EXPECT_FALSE(config::read_settings("intra_op_num_threads: many\n", "config.yaml", {}, &unread));
  request_.unread = {{"execution_mode", "x", {base::ErrorCode::invalid_argument, "config.yaml:1:1: no mode x", ""}}};
  const auto refused = run();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "config.yaml:1:1: no mode x");
}

TEST_F(ForeignKeysTest, of_every_provider_make_no_change_where_nothing_is_faster) {
  executor_.cost_ns = [](const auto&) { return 1e6; };
  for (const auto& param : schema::catalog()) {
    if (schema::is_for(param, "cpu")) continue;
    const auto value = !param.choices.empty() ? param.choices.back()
                       : param.type == schema::ParamType::integer
                           ? Value(static_cast<std::int64_t>(param.minimum.value_or(1)))
                       : param.type == schema::ParamType::number ? Value(param.minimum.value_or(1.0))
                                                                 : Value("x");
    request_.current.set(param.key, value);
  }
  ASSERT_GT(request_.current.size(), 30U);
  const auto run = must_run().run;
  EXPECT_TRUE(run.current.empty()) << run.current.to_text();
  EXPECT_EQ(run.verdict->decision, schema::Decision::keep) << fakes::text_of(run.verdict->reason);
  EXPECT_NE(notes_with(run, "left alone").at(0).find("; the current configuration is cpu's defaults"),
            std::string::npos);
}

TEST_F(ForeignKeysTest, unknown_to_the_release_that_is_loaded_are_foreign_too) {
  executor_.runtime = schema::RuntimeIdentity{"onnxruntime", "1.20.1", "/l.so", "h", {"CPUExecutionProvider"}, {}, {}};
  const auto found = std::find_if(schema::catalog().begin(), schema::catalog().end(), [](const auto& param) {
    return param.providers.empty() && schema::is_for(param, "cpu") && !schema::is_known_to(param, "1.20.1");
  });
  ASSERT_NE(found, schema::catalog().end());
  request_.current.set(found->key, found->choices.empty() ? Value(2) : found->choices.front());
  const auto run = must_run().run;
  EXPECT_TRUE(run.current.empty());
  EXPECT_NE(notes_with(run, "left alone").at(0).find(found->key + " (unknown to ONNX Runtime 1.20.1)"),
            std::string::npos);
  EXPECT_FALSE(settings_to_write(run, run.in_file).contains(found->key));
}

TEST_F(ForeignKeysTest, a_batch_that_the_model_cannot_have_is_no_reason_to_fail) {
  executor_.model.batch_axis_size.reset();
  executor_.model.inputs = {{"x", "float", {4, 3, 32, 32}, {"", "", "", ""}}};
  request_.current = {{"batch_size", 16}};
  const auto run = must_run().run;
  EXPECT_TRUE(run.current.empty()) << run.current.to_text();
  EXPECT_NE(notes_with(run, "left alone").at(0).find("batch_size (the model's batch dimension is fixed"),
            std::string::npos);
}

TEST_F(ForeignKeysTest, another_provider_that_the_file_names_is_said) {
  request_.file_provider = "CUDAExecutionProvider";
  EXPECT_EQ(notes_with(must_run().run, "is tuned"),
            std::vector<std::string>{"config.yaml: it names provider CUDAExecutionProvider, but cpu is tuned; the "
                                     "current configuration is cpu's defaults"});
  request_.file_provider = "CPUExecutionProvider";
  EXPECT_TRUE(notes_with(must_run().run, "is tuned").empty());
}

// What the report says changes is what the diff changes, and what the file then means.
TEST_F(ForeignKeysTest, settings_that_change_are_the_diff) {
  executor_.cost_ns = [](const Configuration& c) {
    return c.get_or("execution_mode", "sequential") == Value("parallel") ? 1e6 : 2e6;
  };
  request_.space.values = {{"execution_mode", {"parallel"}}, {"intra_op_num_threads", {2}}};
  for (const std::string text :
       {"a: 1\n", "cudnn_conv_algo_search: HEURISTIC\nintra_op_num_threads: 4\n",
        "onnxruntime:\n  execution_mode: sequential\n  gpu_mem_limit_gb: 8\n",
        // No meaning beside execution_mode=sequential, and more than nothing beside the recommended value.
        "inter_op_num_threads: 3\nintra_op_allow_spinning: false\n", "enable_mem_pattern: true\n"}) {
    request_.current = settings_in(text);
    const auto run = must_run().run;
    ASSERT_EQ(run.verdict->decision, schema::Decision::change) << text;
    const auto change = tune_change(run, text, {.file = "config.yaml"});
    ASSERT_TRUE(change) << change.error().message;
    std::vector<std::string> said;
    for (const auto& one : *run.verdict->changes)
      if (one.to) said.push_back(one.key + "=" + one.to->to_text());
    std::vector<std::string> done;
    for (const auto& edit : change->patch.edits) done.push_back(edit.key + "=" + edit.after);
    std::sort(done.begin(), done.end());
    EXPECT_EQ(said, done) << text;
    EXPECT_EQ(as_seen_by(run, settings_in(change->patch.text)), as_seen_by(run, run.verdict->configuration))
        << change->patch.text;
  }
}

TEST_F(ForeignKeysTest, where_the_file_cannot_run_only_what_is_to_blame_changes) {
  executor_.cost_ns = [](const auto&) { return 1e6; };
  executor_.failure = [](const Configuration& c) -> std::optional<schema::TrialStatus> {
    if (c.get_or("intra_op_num_threads", 0) == Value(4)) return schema::TrialStatus::invalid;
    return std::nullopt;
  };
  request_.current = {{"intra_op_num_threads", 4}, {"enable_mem_pattern", false}};
  const auto run = must_run().run;
  ASSERT_EQ(run.verdict->decision, schema::Decision::change) << fakes::text_of(run.verdict->reason);
  EXPECT_EQ(run.verdict->changes->size(), 1U) << run.verdict->configuration.to_text();
  EXPECT_FALSE(run.verdict->gain);
  EXPECT_NE(fakes::text_of(run.verdict->reason).find("so nothing was compared with it"), std::string::npos)
      << fakes::text_of(run.verdict->reason);
  for (const auto& pair : run.pairs) EXPECT_NE(pair.a, run.current) << "it cannot run";
}

TEST_F(ForeignKeysTest, where_the_file_cannot_run_more_changes_only_with_a_proven_gain) {
  executor_.failure = [](const Configuration& c) -> std::optional<schema::TrialStatus> {
    if (c.get_or("enable_mem_pattern", true) == Value(false)) return schema::TrialStatus::crashed;
    return std::nullopt;
  };
  request_.current = {{"enable_mem_pattern", false}};
  const auto run = must_run().run;
  ASSERT_EQ(run.verdict->decision, schema::Decision::change);
  EXPECT_EQ(run.verdict->configuration, (Configuration{{"intra_op_num_threads", 2}})) << "twice as fast";
  EXPECT_NE(fakes::text_of(run.verdict->reason).find("× as fast (95 % interval"), std::string::npos)
      << fakes::text_of(run.verdict->reason);
}

}  // namespace
}  // namespace ridgeline::campaign
