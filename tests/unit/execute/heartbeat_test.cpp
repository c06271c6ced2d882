// SPDX-License-Identifier: Apache-2.0
#include "execute/heartbeat.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "base/subprocess.hpp"

namespace ridgeline::execute {
namespace {

constexpr std::int64_t kWork = 200'000'000;  // ns; this process itself uses next to none

/// Whether what a child of this process does is seen within `limit`.
bool sees_a_child(schema::TrialPhase phase, std::chrono::milliseconds limit) {
  WorkerStatus status;
  status.control.phase.store(phase);
  base::SubprocessOptions options;
  options.argv = {"/bin/sh", "-c", "while :; do :; done"};
  const auto child = base::Subprocess::spawn(options);
  EXPECT_TRUE(child);
  const auto before = status.cpu_ns.load();
  const Heartbeat heartbeat(status);
  const auto end = std::chrono::steady_clock::now() + limit;
  std::int64_t first = -1;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto now = status.cpu_ns.load();
    if (first < 0 && now > before) first = now;
    if (first >= 0 && now - first > kWork) return true;
  }
  return false;
}

TEST(Heartbeat, work_in_a_process_of_the_workers_is_progress_while_nothing_is_timed) {
  EXPECT_TRUE(sees_a_child(schema::TrialPhase::create_session, std::chrono::seconds(20)));
  EXPECT_FALSE(sees_a_child(schema::TrialPhase::measure, std::chrono::seconds(1)));
}

}  // namespace
}  // namespace ridgeline::execute
