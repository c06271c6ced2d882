// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <string>

#include "stream/frame_source.hpp"
#include "stream/source_options.hpp"
#include "stream/sources/picture_list.hpp"
#include "stream/video_library.hpp"

namespace ridgeline::stream {

/// Several pictures in the order of their list, 30 a second; each has its own size. One that cannot be decoded is a
/// frame too, with its damage in label().
class PictureSource final : public FrameSource {
 public:
  /// `name`: as the user gave it. Errors: corrupt (none can be decoded).
  [[nodiscard]] static base::Result<std::unique_ptr<FrameSource>> open(const VideoLibrary& library, std::string name,
                                                                       PictureList list, const SourceOptions& options);

  [[nodiscard]] const SourceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] base::Result<std::optional<std::int64_t>> next(Image& image) override;
  [[nodiscard]] FrameLabel label() const override { return label_; }
  void interrupt() noexcept override { stopped_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] std::vector<schema::Message> notes() const override;

 private:
  /// One that open() has looked at.
  struct Looked {
    Image image;
    FrameLabel label;
  };

  PictureSource(const VideoLibrary& library, PictureList list, SourceOptions options)
      : library_(library), list_(std::move(list)), options_(std::move(options)) {}
  /// The next picture, or what is wrong with it.
  [[nodiscard]] base::Result<FrameLabel> take(Image& image);
  [[nodiscard]] base::Result<void> decode(const std::string& name, Image& image);
  [[nodiscard]] bool is_over() const noexcept { return at_ == list_.names.size(); }

  VideoLibrary library_;
  PictureList list_;
  SourceOptions options_;
  SourceInfo info_;
  std::size_t at_ = 0;         ///< the next picture
  std::deque<Looked> looked_;  ///< up to the first that can be decoded
  FrameLabel label_;
  std::int64_t frames_ = 0;
  std::size_t damaged_ = 0;
  FrameLabel damaged_first_;
  std::size_t turned_ = 0;  ///< or mirrored, by EXIF
  std::atomic<bool> stopped_{false};
};

}  // namespace ridgeline::stream
