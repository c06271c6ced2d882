// SPDX-License-Identifier: Apache-2.0
#include "host/processes.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"
#include "host/cpu_use.hpp"
#include "host/load.hpp"
#include "host/this_process.hpp"

namespace ridgeline::host {
namespace {

TEST(ParseStat, takes_the_fields_behind_any_name) {
  const auto stat = parse_stat("7 (a) b) (c) Z 3 1 1 0 -1 0 0 0 0 0 20 5 0 0 20 0 2 0 99 1000000 256 0 0\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) b) (c");
  EXPECT_EQ(stat->state, 'Z');
  EXPECT_EQ(stat->parent, 3);
  EXPECT_EQ(stat->cpu_ticks, 25U);
  EXPECT_EQ(stat->started, 99U);
  EXPECT_EQ(stat->resident_pages, 256);
  EXPECT_FALSE(stat->ended()) << "another thread goes on";
  EXPECT_TRUE(parse_stat("7 (x) Z 3 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0 0 0\n")->ended());
}

TEST(ParseStat, refuses_what_is_cut) {
  for (const char* line : {"", "7 (x", "7 (x) ", "7 (x) S", "7 (x) S 1", "x) (7 S 1 1"})
    EXPECT_FALSE(parse_stat(line)) << line;
}

TEST(Processes, know_this_one) {
  const Processes processes;
  const auto all = processes.all();
  EXPECT_NE(std::find(all.begin(), all.end(), ::getpid()), all.end());
  const auto stat = processes.stat(::getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_GT(stat->resident_pages, 0);
  EXPECT_NE(processes.command_line(::getpid(), 4096).find("rl_unit_test"), std::string::npos);
  EXPECT_EQ(processes.command_line(::getpid(), 3).size(), 3U);
  EXPECT_EQ(processes.owner(::getpid()), ::geteuid());
  EXPECT_FALSE(processes.started_with(::getpid(), "RIDGELINE_NO_SUCH_VARIABLE=1"));
  EXPECT_FALSE(processes.has_no_environment(::getpid()));
  EXPECT_FALSE(processes.stat(-1));
}

TEST(ThisProcess, sees_its_threads_and_files) {
  std::atomic<bool> done = false;
  const auto before = thread_count();
  std::thread other([&] {
    while (!done) {
    }
  });
  EXPECT_EQ(thread_count(), before + 1);
  EXPECT_TRUE(another_thread_runs());
  done = true;
  other.join();
  const auto files = mapped_files();
  EXPECT_TRUE(
      std::any_of(files.begin(), files.end(), [](const auto& file) { return file.filename() == "rl_unit_test"; }));
  EXPECT_TRUE(storage_bytes().read && storage_bytes().written);
}

TEST(Load, of_this_machine_adds_up) {
  const auto times = read_cpu_times();
  ASSERT_TRUE(times);
  ASSERT_FALSE(times->cpus.empty());
  EXPECT_GT(times->all.busy, 0U);
  std::uint64_t sum = 0;
  for (const auto& [cpu, ticks] : times->cpus) sum += ticks.total();
  // The kernel rounds each CPU's ticks apart.
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(times->all.total()),
              static_cast<double>(times->all.total()) / 100);
}

TEST(CpuUse, counts_from_one_call_to_the_next) {
  fakes::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "proc");
  const auto path = folder / "proc/stat";
  CpuUse use{SystemFiles(folder.path())};
  EXPECT_FALSE(use.busy_percent()) << "no such file";
  std::ofstream(path) << "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3\n";
  EXPECT_FALSE(use.busy_percent()) << "nothing to count from";
  std::ofstream(path, std::ios::trunc) << "cpu  150 0 110 730 100 0 0 10 0 0\n";
  EXPECT_DOUBLE_EQ(use.busy_percent().value_or(-1), 70);
  EXPECT_FALSE(use.busy_percent()) << "no time has passed";
  std::ofstream(path, std::ios::trunc) << "intr 3\n";
  EXPECT_FALSE(use.busy_percent());
}

}  // namespace
}  // namespace ridgeline::host
