// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace ridgeline::base {

/// A folder of our own below the temporary one (TMPDIR), removed with everything in it at the end.
class ScratchFolder {
 public:
  /// Its name begins with "ridgeline-" and `purpose`.
  explicit ScratchFolder(std::string_view purpose);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  /// Empty when none could be made.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ridgeline::base
