// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// Appends one line a GPU and look to a file, written through at once so that a recording survives a power cut up to
/// its last line. Columns: time_utc, since_start_s, gpu, uuid, state, the metrics of kGpuMetrics, slowdown_reasons
/// (joined by
/// "+"), host_cpu_percent, host_memory_used_bytes. Unknown values are empty. Without a GPU there is one line a look
/// with those of the host.
class CsvRecorder {
 public:
  /// A file that a recording began is continued when its columns are the same; where its last line is torn, on a line
  /// of its own. Errors: io; invalid_argument for a file that holds something else.
  [[nodiscard]] static base::Result<CsvRecorder> open(const std::filesystem::path& path);

  /// Errors: io (disk full).
  [[nodiscard]] base::Result<void> write(const Snapshot& snapshot);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  CsvRecorder(std::filesystem::path path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// The lines for one look, and the header, each with its newline.
[[nodiscard]] std::string csv_lines(const Snapshot& snapshot);
[[nodiscard]] std::string csv_header();

}  // namespace ridgeline::monitor
