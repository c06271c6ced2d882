// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace ridgeline::fakes {

/// A folder of its own, removed with all it holds; in memory where that is to be had, since a disk waits for every file
/// that is written over another.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = "/dev/shm/ridgeline-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) {
      pattern = (std::filesystem::temp_directory_path() / "ridgeline-XXXXXX").string();
      if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    }
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace ridgeline::fakes
