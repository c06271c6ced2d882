// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

#include "base/error.hpp"

namespace ridgeline::app {

/// Lines to a file or to standard output ("-"), or to nowhere (""). Written at once where somebody may be reading:
/// standard output and pipes.
class LineOutput {
 public:
  /// Errors: io, naming the file.
  [[nodiscard]] static base::Result<LineOutput> open(const std::string& file);
  LineOutput(LineOutput&& other) noexcept;
  LineOutput& operator=(LineOutput&&) = delete;
  LineOutput(const LineOutput&) = delete;
  LineOutput& operator=(const LineOutput&) = delete;
  ~LineOutput();

  [[nodiscard]] base::Result<void> write(const std::string& line);
  /// What was written is in the file.
  [[nodiscard]] base::Result<void> finish();

 private:
  LineOutput(std::FILE* file, std::string name, bool at_once)
      : file_(file), name_(std::move(name)), at_once_(at_once) {}
  [[nodiscard]] base::Fault fault() const;

  std::FILE* file_;  ///< null: nowhere
  std::string name_;
  bool at_once_;
};

}  // namespace ridgeline::app
