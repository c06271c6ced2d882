// SPDX-License-Identifier: Apache-2.0
// A real model on real runtimes, in two processes.
#include <cmath>
#include <map>
#include <set>

#include "fakes/words.hpp"
#include "measure/abba_ratio.hpp"
#include "stats/mean.hpp"
#include "worker_fixture.hpp"

namespace ridgeline::execute {
namespace {

namespace fs = std::filesystem;

class TwoRuntimesTest : public WorkerTest {
 protected:
  void SetUp() override {
    WorkerTest::SetUp();
    library_ = fs::path(RL_TEST_ORT_ROOT) / "lib" / "libonnxruntime.so.1";
    const auto model = fs::path(RL_TEST_MODEL_DIR) / "ch_ppocr_mobile_v2.0_cls_infer.onnx";
    if (!fs::exists(library_) || !fs::exists(model)) GTEST_SKIP() << "no runtime or model: run scripts/setup.sh";
    executor_ = make_local_executor(worker_options());
    workload::InspectRequest request;
    request.workload.kind = "onnx";
    request.workload.location = model.string();
    const auto description = execute::inspect(*executor_, request);
    ASSERT_TRUE(description) << description.error().message;
    auto& base = pair_.base;
    base.workload = request.workload;
    base.workload.content_sha256 = description->sha256;
    base.workload.shapes = description->shapes;
    base.configuration = {{"intra_op_num_threads", 1}};
    base.runtime.name = "onnxruntime";
    base.runtime.library_path = library_.string();
    pair_.across = base;
    pair_.other = base.configuration;
    pair_.plan.rounds = pair_.plan.max_rounds = 4;
    pair_.plan.max_time_s = 8;
  }

  void TearDown() override {
    executor_.reset();
    WorkerTest::TearDown();
  }

  fs::path library_;
  std::unique_ptr<Executor> executor_;
  schema::PairedSpec pair_;
};

TEST_F(TwoRuntimesTest, one_runtime_in_both_processes_is_as_fast_as_itself) {
  const auto outcome = execute::run_pair(*executor_, pair_);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->measurement) << fakes::text_of(outcome->failure->message);
  const auto& blocks = outcome->measurement->blocks;
  std::map<int, std::vector<double>> by_round;
  for (std::size_t at = 0; at + 4 <= blocks.size(); at += 4)
    by_round[blocks[at].round].push_back(measure::abba_log_ratio(&blocks[at]));
  std::vector<double> means;
  for (const auto& [round, logs] : by_round) means.push_back(stats::mean(logs));
  ASSERT_EQ(means.size(), 4U);
  // Twice the half width: a test may not fail one time in twenty.
  EXPECT_LT(std::abs(stats::mean(means)), 2 * stats::mean_half_width(means) + 0.02);
  EXPECT_FALSE(schema::has_flag(outcome->measurement->flags, "waiting_arm_computed"));
}

TEST_F(TwoRuntimesTest, each_process_loads_the_library_that_its_arm_names) {
  const auto other = folder_ / "other" / "libonnxruntime.so.1";
  fs::create_directories(other.parent_path());
  fs::copy_file(library_, other);
  pair_.across->runtime.library_path = other.string();
  pair_.plan.rounds = pair_.plan.max_rounds = 1;
  pair_.plan.max_time_s = 1;
  std::set<std::string> loaded;
  auto options = worker_options();
  options.on_progress = [&](const JobProgress&) {
    for (const pid_t child : children_of(::getpid())) {
      std::set<std::string> own;
      std::ifstream maps("/proc/" + std::to_string(child) + "/maps");
      for (std::string line; std::getline(maps, line);)
        for (const auto& library : {library_, other})
          if (line.find(fs::canonical(library).string()) != std::string::npos) own.insert(library.string());
      EXPECT_LE(own.size(), 1U) << "two runtimes in one process";
      loaded.merge(own);
    }
  };
  const auto outcome = execute::run_pair(*make_local_executor(options), pair_);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->measurement) << fakes::text_of(outcome->failure->message);
  EXPECT_EQ(loaded, (std::set<std::string>{library_.string(), other.string()}));
}

TEST_F(TwoRuntimesTest, a_file_that_is_no_runtime_ends_its_arm_with_a_cause) {
  const auto wrong = folder_ / "libwrong.so";
  std::ofstream(wrong) << "no library";
  pair_.across->runtime.library_path = wrong.string();
  const auto outcome = execute::run_pair(*executor_, pair_);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->failure);
  EXPECT_EQ(fakes::text_of(outcome->failure->message).rfind("arm B: ", 0), 0U)
      << fakes::text_of(outcome->failure->message);
  EXPECT_NE(fakes::text_of(outcome->failure->message).find(wrong.string()), std::string::npos)
      << fakes::text_of(outcome->failure->message);
}

}  // namespace
}  // namespace ridgeline::execute
