// SPDX-License-Identifier: Apache-2.0
#include "execute/classify.hpp"
#include "execute/messages.hpp"
#include "fakes/words.hpp"

#include <signal.h>

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using schema::TrialStatus;

TEST(Classify, error_codes_map_to_statuses) {
  EXPECT_EQ(status_of(base::Error{ErrorCode::out_of_memory, ""}), TrialStatus::out_of_memory);
  EXPECT_EQ(status_of(base::Error{ErrorCode::unsupported, ""}), TrialStatus::unsupported);
  EXPECT_EQ(status_of(base::Error{ErrorCode::invalid_argument, ""}), TrialStatus::invalid);
  EXPECT_EQ(status_of(base::Error{ErrorCode::refused_inputs, ""}), TrialStatus::invalid);
  EXPECT_EQ(status_of(base::Error{ErrorCode::timeout, ""}), TrialStatus::timeout);
  EXPECT_EQ(status_of(base::Error{ErrorCode::crashed, ""}), TrialStatus::crashed) << "a process of the worker's";
  EXPECT_EQ(status_of(base::Error{ErrorCode::internal, "node failed"}), TrialStatus::failed);
  EXPECT_EQ(status_of(base::Error{ErrorCode::unavailable, "no library"}), TrialStatus::failed);
}

TEST(Classify, failed_allocations_are_told_by_their_text) {
  const std::string text =
      "Non-zero status code returned while running Conv node. bfc_arena.cc:376 Failed to allocate memory for requested "
      "buffer of size 1073741824";
  EXPECT_EQ(status_of(base::Error{ErrorCode::internal, text}), TrialStatus::out_of_memory);
  EXPECT_EQ(failure_of(base::Error{ErrorCode::internal, text}, schema::TrialPhase::warmup).requested_bytes, 1073741824);
}

TEST(Classify, an_allocation_past_a_memory_limit_tells_what_was_asked_for) {
  const base::Error error{
      ErrorCode::out_of_memory,
      "onnxruntime: Non-zero status code returned while running Conv node. Status Message: Available "
      "memory of 62080512 is smaller than requested bytes of 411041792"};
  EXPECT_EQ(failure_of(error, schema::TrialPhase::warmup).requested_bytes, 411041792);
}

TEST(Classify, messages_become_one_line) {
  EXPECT_EQ(fakes::text_of(failure_of(base::Error{ErrorCode::internal, "a\nb"}, schema::TrialPhase::measure).message),
            "a b");
}

TEST(Classify, a_death_by_signal_keeps_the_signal) {
  WorkerDeath death;
  death.exit.signal = SIGSEGV;
  death.phase = schema::TrialPhase::create_session;
  EXPECT_EQ(status_of(death), TrialStatus::crashed);
  const auto failure = failure_of(death);
  EXPECT_EQ(failure.signal, SIGSEGV);
  EXPECT_EQ(failure.phase, schema::TrialPhase::create_session);
  EXPECT_EQ(error_of(death).code, ErrorCode::crashed);
}

TEST(Classify, a_division_of_integers_by_zero_is_the_inputs_fault) {
  WorkerDeath death;
  death.exit.signal = SIGFPE;
  death.message = messages::worker_died({.signal = "SIGFPE", .name = "Floating point exception", .phase = "measure"});
  const auto error = error_of(death);
  EXPECT_EQ(error.code, ErrorCode::refused_inputs);
  EXPECT_NE(error.message.find(
                "the worker died of SIGFPE (Floating point exception) in phase measure: an integer was divided by 0"),
            std::string::npos);
  EXPECT_NE(error.hint.find("--input NAME=VALUE"), std::string::npos);
}

TEST(Classify, an_abort_over_bad_alloc_is_out_of_memory) {
  WorkerDeath death;
  death.exit.signal = SIGABRT;
  death.stderr_tail = "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n";
  EXPECT_EQ(status_of(death), TrialStatus::out_of_memory);
  EXPECT_EQ(error_of(death).code, ErrorCode::out_of_memory);
}

TEST(Classify, a_kill_by_the_kernel_for_memory_is_out_of_memory) {
  WorkerDeath death;
  death.exit.signal = SIGKILL;
  EXPECT_EQ(status_of(death), TrialStatus::crashed);
  death.oom_killed = true;
  EXPECT_EQ(status_of(death), TrialStatus::out_of_memory);
}

TEST(Classify, our_own_kill_is_a_timeout_without_a_signal) {
  for (const auto cause : {DeathCause::deadline, DeathCause::stalled, DeathCause::no_heartbeat}) {
    WorkerDeath death;
    death.cause = cause;
    death.exit.signal = SIGKILL;
    EXPECT_EQ(status_of(death), TrialStatus::timeout);
    EXPECT_FALSE(failure_of(death).signal);
    EXPECT_EQ(error_of(death).code, ErrorCode::timeout);
  }
}

TEST(Classify, only_clean_outcomes_leave_the_worker_usable) {
  EXPECT_TRUE(leaves_worker_usable(TrialStatus::ok));
  EXPECT_TRUE(leaves_worker_usable(TrialStatus::invalid));
  EXPECT_TRUE(leaves_worker_usable(TrialStatus::unsupported));
  for (const auto status :
       {TrialStatus::failed, TrialStatus::timeout, TrialStatus::crashed, TrialStatus::out_of_memory})
    EXPECT_FALSE(leaves_worker_usable(status));
}

TEST(Classify, signals_have_names) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(999), "signal 999");
}

}  // namespace
}  // namespace ridgeline::execute
