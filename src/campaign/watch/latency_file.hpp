// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "campaign/watch/latency_input.hpp"

namespace ridgeline::campaign {

/// Follows a file that lines are appended to: renamed and begun anew (the old one is read to its end first), truncated
/// in place, gone for a while. A line counts once its end is written.
class LatencyFile final : public LatencyInput {
 public:
  /// Goes on at `position` of an earlier life (at the beginning when the file is another one by now); without one at
  /// the file's end. Errors: not_found, io.
  [[nodiscard]] static base::Result<LatencyFile> open(std::filesystem::path path, const base::Json& position);
  LatencyFile(LatencyFile&& other) noexcept;
  LatencyFile& operator=(LatencyFile&&) = delete;
  LatencyFile(const LatencyFile&) = delete;
  ~LatencyFile() override;

  /// Errors: not_found, io: nothing was lost, the next call goes on.
  [[nodiscard]] base::Result<void> read(LatencyWindow& window) override;
  [[nodiscard]] base::Json position() const override;

 private:
  explicit LatencyFile(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] base::Result<void> reopen();
  [[nodiscard]] base::Result<void> read_to_end(LatencyWindow& window);

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t inode_ = 0;
  std::int64_t offset_ = 0;
  std::string begun_;  ///< a line whose end is not written yet
};

}  // namespace ridgeline::campaign
