// SPDX-License-Identifier: Apache-2.0
// One test for each fault in each phase: the cause is told right, and the next trial runs.
#include <signal.h>

#include <tuple>

#include "fakes/words.hpp"
#include "worker_fixture.hpp"

namespace ridgeline::execute {
namespace {

using schema::TrialPhase;
using schema::TrialStatus;

struct Expectation {
  const char* fault;
  TrialStatus status;
  std::optional<int> exit_code;
  std::optional<int> signal;
};

constexpr double kHangDeadlineS = 0.5;

class Fault : public WorkerTest, public ::testing::WithParamInterface<std::tuple<Expectation, TrialPhase>> {};

TEST_P(Fault, is_classified_by_cause_and_the_next_trial_runs) {
  const auto& [expected, phase] = GetParam();
  const auto executor = make_local_executor(worker_options());
  TrialOptions options;
  options.reference_outputs = folder_ / "reference";
  ASSERT_TRUE(execute::make_reference(*executor, synthetic_spec("noise=1%"), options.reference_outputs));

  auto spec =
      synthetic_spec(fmt::format("fault={}@{} if intra_op_num_threads=4", expected.fault, base::enum_name(phase)));
  spec.configuration.set("intra_op_num_threads", 4);
  options.deadline_s = expected.status == TrialStatus::timeout ? kHangDeadlineS : 30;
  const auto outcome = execute::run_trial(*executor, spec, options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, expected.status) << (outcome->failure ? fakes::text_of(outcome->failure->message) : "");
  EXPECT_EQ(outcome->measurement.has_value(), expected.status == TrialStatus::ok);
  ASSERT_EQ(outcome->failure.has_value(), expected.status != TrialStatus::ok);
  if (outcome->failure) {
    EXPECT_EQ(outcome->failure->phase, phase);
    EXPECT_EQ(outcome->failure->exit_code, expected.exit_code);
    EXPECT_EQ(outcome->failure->signal, expected.signal);
    EXPECT_FALSE(outcome->failure->message.empty());
    EXPECT_EQ(fakes::text_of(outcome->failure->message).find('\n'), std::string::npos);
  }

  spec.configuration.set("intra_op_num_threads", 2);
  const auto next = execute::run_trial(*executor, spec, options);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->status, TrialStatus::ok);
  EXPECT_TRUE(next->output_error.has_value());
}

INSTANTIATE_TEST_SUITE_P(
    all, Fault,
    ::testing::Combine(::testing::Values(Expectation{"segv", TrialStatus::crashed, std::nullopt, SIGSEGV},
                                         Expectation{"abort", TrialStatus::crashed, std::nullopt, SIGABRT},
                                         Expectation{"kill", TrialStatus::crashed, std::nullopt, SIGKILL},
                                         Expectation{"exit", TrialStatus::crashed, 3, std::nullopt},
                                         Expectation{"hang", TrialStatus::timeout, std::nullopt, std::nullopt},
                                         Expectation{"oom", TrialStatus::out_of_memory, std::nullopt, std::nullopt},
                                         Expectation{"fail", TrialStatus::failed, std::nullopt, std::nullopt},
                                         Expectation{"invalid", TrialStatus::invalid, std::nullopt, std::nullopt},
                                         Expectation{"unsupported", TrialStatus::unsupported, std::nullopt,
                                                     std::nullopt},
                                         Expectation{"stderr_flood", TrialStatus::ok, std::nullopt, std::nullopt},
                                         Expectation{"stdout_rubbish", TrialStatus::ok, std::nullopt, std::nullopt},
                                         Expectation{"grandchild", TrialStatus::ok, std::nullopt, std::nullopt}),
                       ::testing::Values(TrialPhase::load_runtime, TrialPhase::create_session, TrialPhase::warmup,
                                         TrialPhase::measure, TrialPhase::verify)),
    [](const auto& test) {
      return fmt::format("{}_in_{}", std::get<0>(test.param).fault, base::enum_name(std::get<1>(test.param)));
    });

using FaultTest = WorkerTest;

TEST_F(FaultTest, an_allocation_storm_ends_at_the_address_space_limit) {
  if (RL_UNDER_SANITIZER) GTEST_SKIP() << "sanitizers reserve more address space than any limit";
  auto options = worker_options();
  options.address_space_bytes = std::uint64_t{4} << 30U;
  const auto executor = make_local_executor(options);
  const auto outcome = execute::run_trial(*executor, synthetic_spec("fault=alloc@create_session"), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, TrialStatus::out_of_memory);
  EXPECT_EQ(outcome->failure->requested_bytes, std::int64_t{256} << 20U);
}

TEST_F(FaultTest, the_size_of_a_failed_allocation_is_read_from_the_message) {
  const auto executor = make_local_executor(worker_options());
  const auto outcome = execute::run_trial(*executor, synthetic_spec("fault=oom@measure"), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->failure->requested_bytes, 34359738368);
}

TEST_F(FaultTest, a_flood_before_a_death_leaves_its_last_4_kib) {
  const auto executor = make_local_executor(worker_options());
  const auto outcome =
      execute::run_trial(*executor, synthetic_spec("fault=stderr_flood@create_session,fault=segv@measure"), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, TrialStatus::crashed);
  EXPECT_LE(outcome->failure->stderr_tail.size(), 4096U);
  EXPECT_NE(outcome->failure->stderr_tail.find("last line of the flood"), std::string::npos);
}

TEST_F(FaultTest, nan_outputs_are_counted) {
  const auto executor = make_local_executor(worker_options());
  TrialOptions options;
  options.reference_outputs = folder_ / "reference";
  ASSERT_TRUE(execute::make_reference(*executor, synthetic_spec(""), options.reference_outputs));
  const auto outcome = execute::run_trial(*executor, synthetic_spec("fault=nan"), options);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->output_error);
  EXPECT_EQ(outcome->output_error->nonfinite, 1);
  EXPECT_EQ(outcome->output_error->nan_mismatches, 1);
}

TEST_F(FaultTest, a_stopped_worker_is_found_by_its_missing_heartbeat) {
  auto options = worker_options();
  options.heartbeat_timeout_s = 0.5;
  const auto executor = make_local_executor(options);
  const auto outcome = execute::run_trial(*executor, synthetic_spec("fault=stop@measure"), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, TrialStatus::timeout);
  EXPECT_NE(fakes::text_of(outcome->failure->message).find("no heartbeat"), std::string::npos)
      << fakes::text_of(outcome->failure->message);
  EXPECT_FALSE(outcome->failure->signal) << "a kill of ours is not the trial's signal";
}

TEST_F(FaultTest, a_hang_is_found_by_its_missing_progress) {
  auto options = worker_options();
  options.stall_timeout_s = 0.5;
  const auto executor = make_local_executor(options);
  for (const auto* phase : {"create_session", "measure", "verify"}) {
    TrialOptions trial;
    trial.reference_outputs = folder_ / "reference";
    ASSERT_TRUE(execute::make_reference(*executor, synthetic_spec(""), trial.reference_outputs));
    const auto outcome = execute::run_trial(*executor, synthetic_spec(fmt::format("fault=hang@{}", phase)), trial);
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->status, TrialStatus::timeout);
    EXPECT_EQ(base::enum_name(outcome->failure->phase), phase);
    EXPECT_NE(fakes::text_of(outcome->failure->message).find("no progress"), std::string::npos)
        << fakes::text_of(outcome->failure->message);
  }
}

TEST_F(FaultTest, pairs_are_classified_as_well) {
  const auto executor = make_local_executor(worker_options());
  schema::PairedSpec pair;
  pair.base = synthetic_spec("fault=segv@create_session if intra_op_num_threads=4");
  pair.other.set("intra_op_num_threads", 4);
  const auto outcome = execute::run_pair(*executor, pair);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, TrialStatus::crashed);
  EXPECT_EQ(outcome->failure->signal, SIGSEGV);
  EXPECT_EQ(outcome->failure->phase, TrialPhase::create_session);
}

}  // namespace
}  // namespace ridgeline::execute
