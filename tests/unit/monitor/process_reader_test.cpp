// SPDX-License-Identifier: Apache-2.0
#include "monitor/process_reader.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace ridgeline::monitor {
namespace {

constexpr const char* kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

class ProcessReaderTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void put(int pid, long ticks, long started, const std::string& name = "python3") {
    const auto at = folder_ / "proc" / std::to_string(pid);
    std::filesystem::create_directories(at);
    // proc(5): fields 14 and 15 are the CPU time, 22 the start, 24 the resident pages.
    std::ofstream(at / "stat") << pid << " (" << name << ") S 1 1 1 0 -1 0 0 0 0 0 " << ticks << " 0 0 0 20 0 1 0 "
                               << started << " 1000000 256 0 0\n";
    std::ofstream(at / "cmdline") << std::string("python3\0train.py\0--lr\t1\0", 24);
    std::ofstream(at / "cgroup") << "0::/system.slice/docker-" << kId << ".scope\n";
  }
  ProcessReading look(int pid, double at_s) {
    ProcessReading process;
    process.pid = pid;
    reader_.describe(process, base::from_seconds(at_s));
    return process;
  }
  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / fmt::format("rl_proc_{}", ::getpid());
  ProcessReader reader_{host::Processes(folder_)};
  long tick_ = ::sysconf(_SC_CLK_TCK);
};

TEST_F(ProcessReaderTest, describes_a_process_and_its_share_of_the_cpu) {
  put(7, 100, 5);
  const auto first = look(7, 1);
  EXPECT_EQ(first.name, "python3");
  EXPECT_EQ(first.command, "python3 train.py --lr 1");
  EXPECT_EQ(first.container, "docker:0123456789ab");
  EXPECT_FALSE(first.user.empty());
  EXPECT_EQ(first.host_memory_bytes, 256.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  EXPECT_FALSE(first.cpu_percent);
  put(7, 100 + 3 * tick_, 5);
  EXPECT_NEAR(look(7, 3).cpu_percent.value(), 150, 1e-9);
  EXPECT_NEAR(look(7, 3).cpu_percent.value(), 150, 1e-9) << "on a second GPU, the same look";
}

TEST_F(ProcessReaderTest, knows_a_number_that_was_used_again) {
  put(7, 1000, 5, "old");
  look(7, 1);
  put(7, 3, 99, "new (one)");
  const auto again = look(7, 2);
  EXPECT_EQ(again.name, "new (one)");
  EXPECT_FALSE(again.cpu_percent);
}

TEST_F(ProcessReaderTest, leaves_an_invisible_process_as_it_is) {
  const auto process = look(12345, 1);
  EXPECT_EQ(process.name, "");
  EXPECT_FALSE(process.cpu_percent || process.host_memory_bytes);
}

TEST_F(ProcessReaderTest, forgets_what_ended) {
  put(7, 100, 5);
  look(7, 1);
  reader_.end_look();
  reader_.end_look();  // not described since
  put(7, 200, 5);
  EXPECT_FALSE(look(7, 2).cpu_percent) << "a first look again";
}

TEST_F(ProcessReaderTest, ignores_a_broken_entry) {
  std::filesystem::create_directories(folder_ / "proc/8");
  std::ofstream(folder_ / "proc/8/stat") << "8 (x) S 1";
  EXPECT_EQ(look(8, 1).name, "");
}

}  // namespace
}  // namespace ridgeline::monitor
