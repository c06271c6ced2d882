// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace ridgeline::execute {

/// Keeps what a program prints in a file: all of it up to kHead bytes, beyond them only the last kTail (with a line
/// that says how much is missing), so that a flood fills neither disk nor memory.
class OutputLog {
 public:
  static constexpr std::size_t kHead = std::size_t{32} << 20U;
  static constexpr std::size_t kTail = std::size_t{1} << 20U;

  OutputLog() = default;
  ~OutputLog();
  OutputLog(const OutputLog&) = delete;
  OutputLog& operator=(const OutputLog&) = delete;

  /// Errors: io.
  [[nodiscard]] base::Result<void> open(const std::filesystem::path& path);
  /// Takes what the non-blocking `fd` has to give now, at most 4 MiB a call. False at end of file.
  bool drain(int fd);
  /// Writes the tail and closes. Errors: io (disk full).
  [[nodiscard]] base::Result<void> close();

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return bytes_ > kHead + kTail ? bytes_ - kHead - kTail : 0; }

 private:
  void append(std::string_view piece);
  void write(std::string_view piece);

  std::filesystem::path path_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
  std::string tail_;  ///< of what came behind the head; at most twice kTail
  int error_ = 0;
};

}  // namespace ridgeline::execute
