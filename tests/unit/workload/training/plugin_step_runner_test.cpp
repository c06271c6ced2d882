// SPDX-License-Identifier: Apache-2.0
#include "workload/training/plugin_step_runner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fakes/temporary_folder.hpp"
#include "fakes/training_file.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using schema::OomEvidence;

class PluginStepRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    auto library = PluginLibrary::open({RL_TEST_FAKE_TORCH});
    ASSERT_TRUE(library);
    runner_ = std::make_unique<PluginStepRunner>(std::move(*library));
    spec_.job.kind = "native";
    spec_.job.target = "any";
    spec_.settings.batch = 8;
  }
  void TearDown() override { ::unsetenv("XDG_CACHE_HOME"); }
  std::string write(const fakes::TrainingFile& file) {
    const auto path = folder_.path() / "data.h5";
    fakes::write_training_file(path, file);
    return path.string();
  }
  StepError error_of(const std::string& model) {
    spec_.job.target = model;
    const auto ready = runner_->prepare(spec_);
    if (!ready) return ready.error();
    const auto window = runner_->run(1);
    runner_->close();
    return window ? StepError{} : window.error();
  }

  fakes::TemporaryFolder folder_;
  std::unique_ptr<PluginStepRunner> runner_;
  schema::TrainingTrialSpec spec_;
};

TEST_F(PluginStepRunnerTest, runs_another_trial_when_renewed) {
  spec_.job.data_path = write({});
  ASSERT_TRUE(runner_->prepare(spec_));
  ASSERT_TRUE(runner_->run(3));
  runner_->close();
  EXPECT_TRUE(runner_->renew());
  spec_.job.data_path.clear();
  ASSERT_TRUE(runner_->prepare(spec_));
  ASSERT_TRUE(runner_->run(2));
  EXPECT_FALSE(runner_->resources()->loader_read_s) << "the first trial's file";
}

TEST_F(PluginStepRunnerTest, runs_steps_and_tells_resources) {
  ASSERT_TRUE(runner_->prepare(spec_));
  const auto window = runner_->run(3);
  ASSERT_TRUE(window);
  ASSERT_EQ(window->steps.size(), 3U);
  EXPECT_EQ(window->steps[2].backward_ms, 4);
  EXPECT_EQ(window->steps[2].sum_ms(), window->steps[2].wall_ms);
  EXPECT_EQ(window->wall_ms, 63);
  ASSERT_TRUE(runner_->reset_peaks());
  const auto resources = runner_->resources();
  ASSERT_TRUE(resources);
  EXPECT_EQ(resources->peak_allocated_gb, 1.5);
  EXPECT_EQ(resources->peak_reserved_gb, 2.0);
  EXPECT_FALSE(resources->device_capacity_gb);
  EXPECT_EQ(resources->alloc_retries, 3);
  EXPECT_EQ(resources->num_ooms, 0);
  EXPECT_FALSE(resources->skipped_steps);
  EXPECT_EQ(resources->last_loss, 0.25);
  EXPECT_FALSE(resources->loader_read_s);
}

TEST_F(PluginStepRunnerTest, keeps_a_loss_that_is_not_a_number) {
  spec_.job.target = "nan";
  ASSERT_TRUE(runner_->prepare(spec_));
  const auto resources = runner_->resources();
  ASSERT_TRUE(resources && resources->last_loss);
  EXPECT_TRUE(std::isnan(*resources->last_loss));
}

TEST_F(PluginStepRunnerTest, makes_every_code_an_error_with_its_evidence) {
  const struct {
    const char* model;
    ErrorCode code;
    OomEvidence evidence;
  } cases[] = {
      {"refuse", ErrorCode::invalid_argument, OomEvidence::none},
      {"absent", ErrorCode::unavailable, OomEvidence::none},
      {"unsupported", ErrorCode::unsupported, OomEvidence::none},
      {"oom_type", ErrorCode::out_of_memory, OomEvidence::type},
      {"oom_code", ErrorCode::out_of_memory, OomEvidence::error_code},
      {"oom_counter", ErrorCode::out_of_memory, OomEvidence::allocator_counter},
      {"oom_text", ErrorCode::out_of_memory, OomEvidence::text},
      {"broken", ErrorCode::internal, OomEvidence::none},
      {"mute", ErrorCode::internal, OomEvidence::none},
  };
  for (const auto& one : cases) {
    const auto error = error_of(one.model);
    EXPECT_EQ(error.error.code, one.code) << one.model;
    EXPECT_EQ(error.oom, one.evidence) << one.model;
    EXPECT_FALSE(error.error.message.empty()) << one.model;
  }
}

TEST_F(PluginStepRunnerTest, passes_on_the_model_s_options_only) {
  spec_.job.options = {{"depth", "3"}, {"input_dataset", "x"}, {"cache_mb", "10"}, {"loss", "a\"b"}};
  EXPECT_EQ(error_of("echo").error.message, R"({"depth":"3","loss":"a\"b"})");
}

TEST_F(PluginStepRunnerTest, feeds_batches_of_the_file_over_the_end_of_an_epoch) {
  spec_.job.data_path = write({.samples = 20, .values = 4, .chunk_rows = 4});
  spec_.job.options["order"] = "sequential";
  for (const int workers : {0, 2}) {
    spec_.settings.workers = workers;
    ASSERT_TRUE(runner_->prepare(spec_));
    ASSERT_TRUE(runner_->reset_peaks());
    ASSERT_TRUE(runner_->run(4));  // two batches an epoch: the second of the second epoch
    const auto resources = runner_->resources();
    ASSERT_TRUE(resources);
    EXPECT_EQ(resources->last_loss, 8000) << "the first value of the last batch";
    EXPECT_TRUE(resources->loader_read_s && *resources->loader_read_s >= 0);
    runner_->close();
  }
}

TEST_F(PluginStepRunnerTest, refuses_a_batch_larger_than_the_data) {
  spec_.job.data_path = write({.samples = 5, .values = 4, .chunk_rows = 4});
  const auto error = error_of("any");
  EXPECT_EQ(error.error.code, ErrorCode::invalid_argument);
  EXPECT_NE(error.error.message.find("5 samples are less than a batch of 8"), std::string::npos);
}

TEST_F(PluginStepRunnerTest, finds_datasets_and_classes_beforehand) {
  spec_.job.data_path = write({.samples = 10, .values = 4, .chunk_rows = 4});
  const auto found = runner_->describe(spec_.job);
  ASSERT_TRUE(found) << found.error().error.message;
  EXPECT_EQ(found->runtime, "torch 9.9.9, cpu");
  EXPECT_FALSE(found->cuda);
  EXPECT_EQ(found->data.options,
            (std::map<std::string, std::string>{{"classes", "64"}, {"input_dataset", "x"}, {"label_dataset", "y"}}));
  EXPECT_EQ(found->target_sha256.size(), 64U);
  spec_.job.options["classes"] = "100";
  EXPECT_EQ(runner_->describe(spec_.job)->data.options.count("classes"), 0U);
  spec_.job.options["classes"] = "63";
  const auto few = runner_->describe(spec_.job);
  ASSERT_FALSE(few);
  EXPECT_NE(few.error().error.message.find("classes=63"), std::string::npos);
}

TEST_F(PluginStepRunnerTest, says_what_is_wrong_with_the_request_beforehand) {
  const auto message = [&] {
    const auto found = runner_->describe(spec_.job);
    return found ? "" : base::error_line(found.error().error);
  };
  spec_.job.options = {{"label_dataset", "y"}};
  EXPECT_NE(message().find("add --data-path"), std::string::npos);
  spec_.job.options.clear();
  spec_.job.data_path = "/nowhere.h5";
  EXPECT_NE(message().find("/nowhere.h5"), std::string::npos);
  spec_.job.data_path = write({.samples = 10, .values = 4, .chunk_rows = 4, .labels = 9});
  EXPECT_NE(message().find("10 samples and \"y\" 9 labels"), std::string::npos) << message();
  spec_.job.options = {{"input_dataset", "images"}};
  EXPECT_NE(message().find(": has no dataset \"images\"; it has x, y"), std::string::npos) << message();
  spec_.job.options = {{"order", "random"}};
  EXPECT_NE(message().find("order=random"), std::string::npos);
  spec_.job.options = {{"cache_mb", "-1"}};
  EXPECT_NE(message().find("cache_mb=-1"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::workload
