// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "stream/image.hpp"
#include "stream/video_library.hpp"

namespace ridgeline::stream {

/// A video file under way, through the plug-in: H.264 where FFmpeg has an encoder for it, MPEG-4 elsewhere. One thread
/// at a time.
///
///   RL_TRY_ASSIGN(auto writer, VideoWriter::create("out.mp4", {1280, 720, 30}));
///   RL_TRY(writer->write(image, pts_ns)); ... RL_TRY(writer->finish());
class VideoWriter {
 public:
  struct Encoding {
    int width = 0;  ///< even
    int height = 0;
    double fps = 30;       ///< nominal; 0: 30. The times are those of the frames, in an AVI rounded to frames
    int threads = 0;       ///< 0: as many as there are processors
    std::string plugin{};  ///< as SourceOptions::video_plugin
  };
  /// Replaces the file; its name's ending chooses the container (.mp4, .avi, .mkv). Errors: invalid_argument,
  /// not_found, unavailable, unsupported, io.
  [[nodiscard]] static base::Result<std::unique_ptr<VideoWriter>> create(const std::string& path,
                                                                         const Encoding& encoding);
  VideoWriter(const VideoWriter&) = delete;
  VideoWriter& operator=(const VideoWriter&) = delete;
  ~VideoWriter();

  /// A bgr24 picture of the size that was named; pts_ns should grow. Errors: invalid_argument, io (no space left).
  [[nodiscard]] base::Result<void> write(const Image& image, std::int64_t pts_ns);
  /// Without it the file may be unreadable.
  [[nodiscard]] base::Result<void> finish();

 private:
  VideoWriter(const VideoLibrary& library, rl_video_writer* writer, std::string path, const Encoding& encoding)
      : library_(library), writer_(writer), path_(std::move(path)), width_(encoding.width), height_(encoding.height) {}
  VideoLibrary library_;
  rl_video_writer* writer_;
  std::string path_;
  int width_;
  int height_;
};

}  // namespace ridgeline::stream
