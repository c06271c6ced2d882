// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "watch/latency_input.hpp"

namespace ridgeline::watch {

/// Follows a file that lines are appended to: renamed and begun anew (the old one is read to its end first, also when
/// that happened between two lives), truncated in place, gone for a while. A line counts once its end is written.
class LatencyFile final : public LatencyInput {
 public:
  /// Goes on at `position` of an earlier life; without one at the file's end. Is the file another one by now, then in
  /// the renamed one if that is in its folder, else at the beginning. Errors: not_found, io.
  [[nodiscard]] static base::Result<LatencyFile> open(std::filesystem::path path, const base::Json& position);
  LatencyFile(LatencyFile&& other) noexcept;
  LatencyFile& operator=(LatencyFile&&) = delete;
  LatencyFile(const LatencyFile&) = delete;
  ~LatencyFile() override;

  /// Errors: not_found, io: nothing was lost, the next call goes on.
  [[nodiscard]] base::Result<void> read(LatencyWindow& window) override;
  [[nodiscard]] base::Json position() const override;
  [[nodiscard]] std::string take_note() override { return std::exchange(note_, {}); }

 private:
  explicit LatencyFile(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] base::Result<void> reopen();
  [[nodiscard]] base::Result<void> read_to_end(LatencyWindow& window);
  /// Goes on in the file that was renamed to make place for the present one. False: there is none.
  [[nodiscard]] bool go_on_in_renamed(std::uint64_t inode, std::int64_t born, std::int64_t offset);
  [[nodiscard]] bool rotated_more_than_once() const;
  void note_loss(std::string_view what);

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t inode_ = 0;
  std::int64_t born_ = 0;  ///< ns; 0: not known
  std::int64_t offset_ = 0;
  std::string begun_;  ///< a line whose end is not written yet
  std::string note_;
};

}  // namespace ridgeline::watch
