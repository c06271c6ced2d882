// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace ridgeline::app {

/// Lines to a file or to standard output ("-"), or to nowhere (""). Each is written at once: somebody may be reading,
/// and a process that is killed has lost none.
class LineOutput {
 public:
  /// `option`: that named the file. Errors: io, naming both.
  [[nodiscard]] static base::Result<LineOutput> open(const std::string& file, const char* option = "--output");
  LineOutput(LineOutput&& other) noexcept;
  LineOutput& operator=(LineOutput&&) = delete;
  LineOutput(const LineOutput&) = delete;
  LineOutput& operator=(const LineOutput&) = delete;
  ~LineOutput();

  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  /// A line that a file has no room for is taken back, so that whole ones remain.
  [[nodiscard]] base::Result<void> write(const std::string& line);
  [[nodiscard]] base::Result<void> finish();

 private:
  LineOutput(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  [[nodiscard]] base::Fault fault() const;

  int fd_;  ///< -1: nowhere
  std::string name_;
  std::string line_;        ///< reused
  std::int64_t whole_ = 0;  ///< bytes of whole lines
};

}  // namespace ridgeline::app
