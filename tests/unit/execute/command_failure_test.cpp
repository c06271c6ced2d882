// SPDX-License-Identifier: Apache-2.0
#include "execute/command_failure.hpp"
#include "fakes/words.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace ridgeline::execute {
namespace {

using schema::TrialStatus;

CommandResult exited(int code) {
  CommandResult out;
  out.report.exit_code = code;
  return out;
}
CommandResult killed(int signal, bool by_kernel = false) {
  CommandResult out;
  out.report.signal = signal;
  out.kernel_oom_kill = by_kernel;
  return out;
}

constexpr const char* kCudaOom =
    "Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    x = y.cuda()\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 15 GiB\n";

TEST(CommandFailure, finds_the_exception_that_ended_it) {
  EXPECT_EQ(printed_exception(kCudaOom).type, "torch.OutOfMemoryError");
  EXPECT_EQ(printed_exception("ValueError: a\n\nDuring handling ...\n\nKeyError: 'b'\n").message, "'b'");
  EXPECT_EQ(printed_exception("KeyboardInterrupt\n").type, "KeyboardInterrupt");
  const auto native =
      printed_exception("terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n");
  EXPECT_EQ(native.type, "std::bad_alloc");
  EXPECT_EQ(native.message, "std::bad_alloc");
  EXPECT_EQ(printed_exception("Epoch 1: Error: 0.3\nloss: 3\n").type, "");
}

TEST(CommandFailure, tells_out_of_memory_by_type_kernel_or_known_phrase) {
  EXPECT_EQ(judge_command(exited(1), 0, kCudaOom).status, TrialStatus::out_of_memory);
  EXPECT_EQ(judge_command(exited(1), 0, "MemoryError: too large\n").status, TrialStatus::out_of_memory);
  EXPECT_EQ(judge_command(exited(134), 0, "terminate called after throwing an instance of 'std::bad_alloc'\n").status,
            TrialStatus::out_of_memory);
  EXPECT_EQ(judge_command(exited(1), 0, "RuntimeError: CUDA error: out of memory\n").status,
            TrialStatus::out_of_memory);
  EXPECT_EQ(judge_command(killed(SIGKILL, true), 0, "step 3\n").status, TrialStatus::out_of_memory);
  EXPECT_EQ(judge_command(exited(128 + SIGKILL), 0, "").status, TrialStatus::crashed);
}

TEST(CommandFailure, calls_nothing_else_out_of_memory) {
  EXPECT_EQ(judge_command(exited(1), 0, "ValueError: the log says CUDA out of memory. Tried to allocate\n").status,
            TrialStatus::failed);
  EXPECT_EQ(judge_command(killed(SIGKILL), 0, "").status, TrialStatus::crashed);
  EXPECT_EQ(judge_command(killed(SIGSEGV, true), 0, "").status, TrialStatus::crashed);
  EXPECT_EQ(judge_command(exited(2), 0, "usage: t.py [--memory GB]\n").status, TrialStatus::failed);
}

TEST(CommandFailure, says_in_one_line_what_happened) {
  EXPECT_EQ(fakes::text_of(judge_command(exited(2), 0, "usage: x\nx: error: no such flag\n").failure.message),
            "exit code 2: x: error: no such flag");
  EXPECT_EQ(fakes::text_of(judge_command(exited(1), 0, "Traceback:\nKeyError: 'a'\n").failure.message),
            "exit code 1: KeyError: 'a'");
  EXPECT_EQ(fakes::text_of(judge_command(killed(SIGSEGV), 0, "").failure.message), "ended by SIGSEGV");
  EXPECT_EQ(fakes::text_of(judge_command(exited(139), 0, "").failure.message), "ended by SIGSEGV");
  auto late = killed(SIGTERM);
  late.timed_out = true;
  const auto judged = judge_command(late, 2.5, "step 7\n");
  EXPECT_EQ(judged.status, TrialStatus::timeout);
  EXPECT_EQ(fakes::text_of(judged.failure.message), "not finished within 2.5 s: step 7");
  EXPECT_FALSE(judged.failure.signal);
}

}  // namespace
}  // namespace ridgeline::execute
