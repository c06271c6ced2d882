// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "fakes/temporary_folder.hpp"
#include "trace/file/trace_reader.hpp"

namespace ridgeline::test {

/// Runs recorded_program under libridgeline_inject.so, and reads what that wrote.
class InjectFixture : public ::testing::Test {
 protected:
  /// How the program ended, as the shell says it. `environment`: more variables, as a shell has them.
  int run(const std::string& what, const std::string& options = "", const std::string& environment = "") const {
    const auto line = fmt::format(
        "RIDGELINE_TRACE_FOLDER='{}' RIDGELINE_TRACE_OPTIONS='{}' CUDA_INJECTION64_PATH='{}' "
        "NVTX_INJECTION64_PATH='{}' {} '{}' {} > '{}'",
        folder_.path().string(), options, RL_TEST_INJECT, RL_TEST_INJECT, environment, program_, what,
        (folder_ / "output").string());
    return WEXITSTATUS(std::system(line.c_str()));
  }
  [[nodiscard]] std::vector<std::filesystem::path> files(const std::string& extension) const {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      if (entry.path().extension() == extension) out.push_back(entry.path());
    return out;
  }
  [[nodiscard]] trace::Trace trace() const {
    const auto all = files(".rltrace");
    EXPECT_EQ(all.size(), 1U);
    auto read = trace::read_trace_file(all.at(0).string());
    EXPECT_TRUE(read) << read.error().message;
    return *std::move(read);
  }
  [[nodiscard]] std::map<std::string, std::string> facts() const {
    std::map<std::string, std::string> out;
    const auto all = files(".facts");
    EXPECT_EQ(all.size(), 1U);
    auto text = base::read_file(all.at(0)).value_or("");
    for (std::size_t at = 0; at < text.size();) {
      const auto end = text.find('\n', at);
      const auto line = text.substr(at, end - at);
      out[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
      at = end + 1;
    }
    return out;
  }
  /// Removes what the last run wrote.
  void clear() const {
    for (const auto* extension : {".rltrace", ".facts"})
      for (const auto& file : files(extension)) std::filesystem::remove(file);
  }
  /// How many ranges have that name.
  static std::size_t count(const trace::Trace& trace, std::string_view name) {
    return static_cast<std::size_t>(std::count_if(trace.ranges.name.begin(), trace.ranges.name.end(),
                                                  [&](auto id) { return trace.strings.text(id) == name; }));
  }

  fakes::TemporaryFolder folder_;
  const char* program_ = RL_TEST_RECORDED_PROGRAM;
};

}  // namespace ridgeline::test
