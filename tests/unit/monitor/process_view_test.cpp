// SPDX-License-Identifier: Apache-2.0
#include "monitor/process_view.hpp"

#include <gtest/gtest.h>

#include "fakes/machine_snapshot.hpp"

namespace ridgeline::monitor {
namespace {

std::vector<std::int64_t> pids(const std::vector<ProcessReading>& processes, const ProcessOrder& order) {
  std::vector<std::int64_t> out;
  for (const auto* process : ordered(processes, order)) out.push_back(process->pid);
  return out;
}

TEST(ProcessView, sorts_by_any_column_both_ways) {
  const auto all = fakes::busy_machine().processes;
  using Pids = std::vector<std::int64_t>;
  EXPECT_EQ(pids(all, {}), (Pids{4711, 815, 42}));
  EXPECT_EQ(pids(all, {SortKey::gpu_memory, false, "", {}}), (Pids{42, 815, 4711}));
  EXPECT_EQ(pids(all, {SortKey::user, false, "", {}}), (Pids{4711, 815, 42}));
  EXPECT_EQ(pids(all, {SortKey::pid, false, "", {}}), (Pids{42, 815, 4711}));
  EXPECT_EQ(pids(all, {SortKey::host_memory, true, "", {}}), (Pids{42, 815, 4711})) << "equal ones by number";
}

TEST(ProcessView, puts_the_unknown_last) {
  auto all = fakes::busy_machine().processes;
  all[0].sm_percent.reset();
  EXPECT_EQ(pids(all, {SortKey::sm, true, "", {}}).back(), 4711);
}

TEST(ProcessView, filters_by_any_text_whatever_its_case) {
  auto all = fakes::busy_machine().processes;
  all[2].gpu = 1;
  EXPECT_EQ(pids(all, {SortKey::pid, false, "TRITON", {}}), std::vector<std::int64_t>{815});
  EXPECT_EQ(pids(all, {SortKey::pid, false, "docker:0123", {}}), std::vector<std::int64_t>{815});
  EXPECT_EQ(pids(all, {SortKey::pid, false, "ada", {}}), std::vector<std::int64_t>{4711});
  EXPECT_EQ(pids(all, {SortKey::pid, false, "", 1}), std::vector<std::int64_t>{42});
  EXPECT_TRUE(pids(all, {SortKey::pid, false, "nobody", {}}).empty());
}

}  // namespace
}  // namespace ridgeline::monitor
