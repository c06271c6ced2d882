// SPDX-License-Identifier: Apache-2.0
#include "host/process_cpu.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include <gtest/gtest.h>

namespace ridgeline::host {
namespace {

TEST(ProcessCpu, counts_what_another_process_computes_and_not_what_it_waits) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0)
    for (volatile bool go_on = true; go_on;) {
    }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (process_cpu_s(child).value_or(0) < 0.02 && std::chrono::steady_clock::now() < end) ::usleep(1000);
  EXPECT_GE(process_cpu_s(child).value_or(0), 0.02);
  ::kill(child, SIGSTOP);
  ASSERT_EQ(::waitpid(child, nullptr, WUNTRACED), child);
  ::usleep(1000);
  const auto stopped = process_cpu_s(child);
  ::usleep(50'000);
  EXPECT_NEAR(process_cpu_s(child).value_or(0), stopped.value_or(-1), 0.002);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(process_cpu_s(child)) << "it has been reaped";
}

}  // namespace
}  // namespace ridgeline::host
