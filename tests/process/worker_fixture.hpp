// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/local_executor.hpp"
#include "fakes/sanitizer.hpp"

namespace ridgeline::execute {

using fakes::make_local_executor;

inline WorkerOptions worker_options(std::vector<std::string> arguments = {}) {
  WorkerOptions options;
  options.command = {RL_TEST_WORKER};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  return options;
}

inline schema::TrialSpec synthetic_spec(const std::string& location) {
  schema::TrialSpec spec;
  spec.workload.kind = "synthetic";
  spec.workload.location = location;
  spec.provider = "cpu";
  spec.runtime.name = "synthetic";
  spec.plan.max_time_s = 0.5;
  return spec;
}

/// Parent of a process from /proc, 0 when it is gone.
inline pid_t parent_of(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text, '\0');  // not through its buffer, which throws when the process ends in between
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  char state = 0;
  long parent = 0;
  return std::sscanf(text.c_str() + name_end + 1, " %c %ld", &state, &parent) == 2 ? static_cast<pid_t>(parent) : 0;
}

inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto pid = static_cast<pid_t>(std::stol(name));
    if (parent_of(pid) == parent) children.push_back(pid);
  }
  return children;
}

/// Processes, zombies included, that belong to a group.
inline bool group_is_empty(pid_t group) { return ::kill(-group, 0) != 0; }

template <typename Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::milliseconds(5000)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

/// A fresh folder, and sanitizers told to let the faults happen.
class WorkerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // No leak check in workers: they are killed, or end while ONNX Runtime still holds what is its own.
    ::setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:detect_leaks=0", 1);
    const char* tsan = std::getenv("TSAN_OPTIONS");
    ::setenv("TSAN_OPTIONS", (std::string(tsan == nullptr ? "" : tsan) + " handle_segv=0:handle_abort=0").c_str(), 1);
  }
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "rl-process-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    EXPECT_TRUE(eventually([] { return children_of(::getpid()).empty(); })) << "a worker or zombie is left";
  }
  std::filesystem::path folder_;
};

}  // namespace ridgeline::execute
