// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "stream/frame_source.hpp"
#include "stream/source_options.hpp"
#include "stream/video_library.hpp"

namespace ridgeline::stream {

/// The pictures of a folder in the order of their names (bytes compared), 30 a second; each has its own size. What is
/// not named like a picture is left out, what cannot be decoded is skipped and told in notes.
class ImageFolderSource final : public FrameSource {
 public:
  /// Errors: invalid_argument (no picture in it), corrupt (none can be decoded), io.
  [[nodiscard]] static base::Result<std::unique_ptr<FrameSource>> open(const VideoLibrary& library,
                                                                       const std::filesystem::path& folder,
                                                                       const SourceOptions& options);

  [[nodiscard]] const SourceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] base::Result<std::optional<std::int64_t>> next(Image& image) override;
  void interrupt() noexcept override { stopped_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] std::vector<std::string> notes() const override;

 private:
  ImageFolderSource(const VideoLibrary& library, SourceOptions options)
      : library_(library), options_(std::move(options)) {}
  [[nodiscard]] base::Result<void> decode(const std::filesystem::path& path, Image& image, std::string& decoder) const;
  /// False: none is left.
  [[nodiscard]] base::Result<bool> decode_next(Image& image);

  VideoLibrary library_;
  SourceOptions options_;
  SourceInfo info_;
  std::vector<std::filesystem::path> pictures_;
  std::size_t at_ = 0;  ///< the next picture
  bool first_is_waiting_ = false;
  Image first_;  ///< decoded by open
  std::int64_t frames_ = 0;
  std::size_t skipped_ = 0;
  std::string skipped_first_;  ///< why
  std::atomic<bool> stopped_{false};
};

}  // namespace ridgeline::stream
