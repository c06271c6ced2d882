// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace ridgeline::execute {

/// Keeps the end of what a worker writes to stdout and stderr. Reads at most 1 MiB a call, so that a flood cannot hold
/// up the caller.
class OutputTail {
 public:
  static constexpr std::size_t kMaxBytes = 4096;
  static constexpr std::size_t kMaxLogBytes = std::size_t{64} << 20U;

  /// Takes what the non-blocking `fd` has to give now. False at end of file.
  bool drain(int fd);
  void append(std::string_view bytes);
  void clear() noexcept { bytes_.clear(); }
  /// Also writes everything to this file, anew, up to kMaxLogBytes. One that cannot be written is done without.
  void keep_in(const std::filesystem::path& log);
  /// At most kMaxBytes of valid UTF-8 without control characters but line feeds and tabs.
  [[nodiscard]] std::string text() const;
  /// The last line that is not blank, or "".
  [[nodiscard]] std::string last_line() const;

 private:
  std::string bytes_;
  std::ofstream log_;
  std::size_t logged_ = 0;
};

}  // namespace ridgeline::execute
