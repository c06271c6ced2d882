// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/atomic_file.hpp"
#include "base/error.hpp"

namespace ridgeline::trace {

/// A file that is written piece by piece, packed by gzip where its name ends in .gz, and has its name only when it is
/// complete. The first error is kept: nothing is written from then on, and finish() returns it.
class OutputFile {
 public:
  /// Errors: not_found, io, with what to do.
  [[nodiscard]] static base::Result<OutputFile> create(const std::string& path);
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  void write(std::string_view bytes);
  /// An error came; whoever makes the bytes may stop.
  [[nodiscard]] bool failed() const noexcept { return !result_.has_value(); }
  /// Errors: io; the file that had the name before is untouched then. To be called once, as the last.
  [[nodiscard]] base::Result<void> finish();

 private:
  struct Gzip;
  OutputFile(base::AtomicFile file, std::unique_ptr<Gzip> gzip);
  void flush(bool last);

  base::AtomicFile file_;
  std::unique_ptr<Gzip> gzip_;  ///< null: plain
  std::string buffer_;
  base::Result<void> result_;
};

}  // namespace ridgeline::trace
