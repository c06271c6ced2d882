// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <utility>

#include "base/error.hpp"

namespace ridgeline::stream {

/// A file descriptor to read from: one that was opened here and is closed at the end, or one that stays the caller's.
class InputFile {
 public:
  /// Errors: not_found ("FILE: no such file"), io. A FIFO waits for whoever writes to it.
  [[nodiscard]] static base::Result<InputFile> open(const std::filesystem::path& path);
  [[nodiscard]] static InputFile borrow(int fd) noexcept { return {fd, false}; }

  InputFile(InputFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)), owned_(other.owned_) {}
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  InputFile(int fd, bool owned) noexcept : fd_(fd), owned_(owned) {}
  int fd_;
  bool owned_;
};

}  // namespace ridgeline::stream
