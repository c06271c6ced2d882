// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "stream/frame_source.hpp"
#include "stream/input_file.hpp"
#include "stream/video_reader.hpp"

namespace ridgeline::stream {

/// A file, a pipe, a download or a camera, read through the plug-in from its beginning to its end. One that stops
/// early ends where it stops and says so in its notes.
class VideoSource final : public FrameSource {
 public:
  /// `file`: what the input's descriptor belongs to. Errors as VideoReader::open's.
  [[nodiscard]] static base::Result<std::unique_ptr<FrameSource>> open(const VideoLibrary& library,
                                                                       const VideoReader::Input& input,
                                                                       const SourceOptions& options,
                                                                       std::optional<InputFile> file);

  [[nodiscard]] const SourceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] base::Result<std::optional<std::int64_t>> next(Image& image) override;
  void leave_on_device() override { reader_.leave_on_device(); }
  void interrupt() noexcept override { reader_.interrupt(); }
  [[nodiscard]] std::vector<schema::Message> notes() const override;

 private:
  VideoSource(const VideoLibrary& library, PixelFormat format, std::optional<InputFile> file)
      : file_(std::move(file)), reader_(library), format_(format) {}

  std::optional<InputFile> file_;
  VideoReader reader_;
  PixelFormat format_;
  SourceInfo info_;
};

/// What a user should know of a video that was read: frames that were skipped, an end that came too early, and
/// interlaced frames that `info` does not tell of.
[[nodiscard]] std::vector<schema::Message> notes_of(const rl_video_totals& totals, const SourceInfo& info);

/// What the plug-in tells of a video, as a source tells it; a rotation that was applied and interlacing are notes.
[[nodiscard]] SourceInfo info_of(const rl_video_info& video, std::string name, bool is_live);

}  // namespace ridgeline::stream
