// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace ridgeline::trace {

/// A folder of its own for each test.
class TraceFilesTest : public ::testing::Test {
 protected:
  TraceFilesTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rl-trace-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~TraceFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& content, const std::string& name = "trace.json") const {
    const auto path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }

  std::filesystem::path folder_;
};

}  // namespace ridgeline::trace
