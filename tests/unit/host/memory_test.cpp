// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "host/cgroup_limits.hpp"
#include "host/this_process.hpp"

namespace ridgeline::host {
namespace {

TEST(MemoryUsage, the_peak_covers_what_was_touched) {
  const auto before = peak_rss_bytes();
  ASSERT_TRUE(before);
  EXPECT_GT(*before, 1 << 20);
  const std::string block(std::size_t{64} << 20U, '\1');
  const auto with = peak_rss_bytes();
  ASSERT_TRUE(with);
  EXPECT_GT(*with, static_cast<std::int64_t>(block.size()));
}

/// A root folder with the kernel's files in it.
class KernelFiles {
 public:
  KernelFiles() : root_(std::filesystem::temp_directory_path() / fmt::format("rl-kernel-{}", ::getpid())) {
    std::filesystem::remove_all(root_);
  }
  ~KernelFiles() { std::filesystem::remove_all(root_); }
  KernelFiles(const KernelFiles&) = delete;
  KernelFiles& operator=(const KernelFiles&) = delete;
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_.string() + path).substr(0, (root_.string() + path).rfind('/')));
    std::ofstream(root_.string() + path) << text;
  }
  [[nodiscard]] std::optional<std::int64_t> kills() const { return oom_kills(SystemFiles(root_)); }

 private:
  std::filesystem::path root_;
};

TEST(OomKills, are_those_of_the_nearest_group_that_counts) {
  const KernelFiles files;
  EXPECT_FALSE(files.kills());
  files.put("/proc/vmstat", "nr_free_pages 7\noom_kill 9\n");
  EXPECT_EQ(files.kills(), 9);
  files.put("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
  EXPECT_EQ(files.kills(), 4);
  files.put("/proc/self/cgroup", "9:cpu:/\n4:memory:/job/7\n0::/\n");
  files.put("/sys/fs/cgroup/memory/job/7/memory.oom_control", "oom_kill_disable 0\noom_kill 3\n");
  EXPECT_EQ(files.kills(), 3);
  files.put("/sys/fs/cgroup/memory.events", "oom 1\noom_kill 2\n");
  EXPECT_EQ(files.kills(), 2);
  files.put("/proc/self/cgroup", "0::/slice/job\n");
  files.put("/sys/fs/cgroup/slice/job/memory.events", "low 0\noom 5\noom_kill 1\noom_group_kill 0\n");
  EXPECT_EQ(files.kills(), 1);
}

}  // namespace
}  // namespace ridgeline::host
