// SPDX-License-Identifier: Apache-2.0
// Workers that are not ours, or damaged.
#include "base/subprocess.hpp"
#include "worker_fixture.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using schema::TrialStatus;

using ProtocolTest = WorkerTest;

base::Error launch_error(WorkerOptions options) {
  const auto outcome = execute::run_trial(*make_local_executor(std::move(options)), synthetic_spec(""), {});
  EXPECT_FALSE(outcome);
  return outcome ? base::Error{} : outcome.error();
}

TEST_F(ProtocolTest, a_worker_of_another_version_is_refused_by_name) {
  const auto error = launch_error(worker_options({"old_version"}));
  EXPECT_EQ(error.code, ErrorCode::unsupported);
  EXPECT_NE(error.message.find("is version 0.0.1"), std::string::npos) << error.message;
}

TEST_F(ProtocolTest, a_program_that_does_not_exist_is_named) {
  WorkerOptions options;
  options.command = {"/nonexistent/ridgeline", "worker"};
  const auto error = launch_error(options);
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_NE(error.message.find("/nonexistent/ridgeline"), std::string::npos) << error.message;
}

TEST_F(ProtocolTest, a_worker_that_dies_at_once_is_quoted) {
  const auto error = launch_error(worker_options({"dies_at_once"}));
  EXPECT_EQ(error.code, ErrorCode::crashed);
  EXPECT_NE(error.message.find("exit code 9"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("libfictitious.so"), std::string::npos) << error.message;
}

TEST_F(ProtocolTest, a_silent_worker_runs_into_the_launch_limit) {
  auto options = worker_options({"silent"});
  options.launch_timeout_s = 0.3;
  EXPECT_EQ(launch_error(options).code, ErrorCode::timeout);
}

TEST_F(ProtocolTest, a_program_that_is_no_worker_is_told_apart) {
  WorkerOptions options;
  options.command = {"true"};
  EXPECT_EQ(launch_error(options).code, ErrorCode::crashed);
}

class BrokenAnswer : public WorkerTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(BrokenAnswer, is_a_crashed_trial) {
  const auto executor = make_local_executor(worker_options({GetParam()}));
  const auto outcome = execute::run_trial(*executor, synthetic_spec(""), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, TrialStatus::crashed);
  EXPECT_FALSE(outcome->failure->message.empty());
}

INSTANTIATE_TEST_SUITE_P(all, BrokenAnswer, ::testing::Values("rubbish", "truncated", "oversized", "hangs_up"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(ProtocolTest, a_well_formed_answer_without_sense_is_a_fault_of_ours) {
  const auto outcome = execute::run_trial(*make_local_executor(worker_options({"not_json"})), synthetic_spec(""), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::corrupt);
}

TEST_F(ProtocolTest, a_worker_started_by_hand_says_so) {
  auto child = base::Subprocess::spawn({.argv = {RL_TEST_WORKER}});
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(child->wait().exit_code, 2);
}

}  // namespace
}  // namespace ridgeline::execute
