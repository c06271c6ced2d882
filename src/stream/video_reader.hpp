// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "stream/image.hpp"
#include "stream/source_options.hpp"
#include "stream/video_library.hpp"

namespace ridgeline::stream {

/// One video through the plug-in. One thread at a time, but for interrupt.
class VideoReader {
 public:
  /// What to open.
  struct Input {
    std::string url;
    std::string name;                          ///< begins error messages; "": they have no name
    int fd = -1;                               ///< read instead of `url`; must stay open
    bool live = false;                         ///< least delay rather than most frames a second
    std::string demuxer;                       ///< FFmpeg's name of the container or device; "": recognized
    std::chrono::nanoseconds timeout{0};       ///< longest wait for a frame; 0: no limit
    std::chrono::nanoseconds open_timeout{0};  ///< longest wait for the first frame
  };

  explicit VideoReader(const VideoLibrary& library);  ///< the library is copied
  VideoReader(const VideoReader&) = delete;
  VideoReader& operator=(const VideoReader&) = delete;
  ~VideoReader();

  /// Once, before all others. Errors name the input: not_found, invalid_argument (no video stream, an unknown
  /// protocol), corrupt (nothing can be decoded), unsupported, io, timeout, cancelled.
  [[nodiscard]] base::Result<rl_video_info> open(const Input& input, const SourceOptions& options);
  /// The next frame in `format`, as FrameSource::next gives it.
  [[nodiscard]] base::Result<std::optional<std::int64_t>> next(Image& image, PixelFormat format);
  /// From now on frames that a GPU has decoded stay in its memory, as NV12; otherwise they come in `format`, too.
  void leave_on_device() noexcept { leaves_on_device_ = true; }
  [[nodiscard]] rl_video_totals totals() const;
  /// From any thread; open and next end within about 100 ms.
  void interrupt() noexcept;

 private:
  /// False: it is in the host's memory, or has to be there.
  [[nodiscard]] base::Result<bool> keep_on_device(const rl_video_frame& frame, Image& image) const;

  VideoLibrary library_;
  rl_video_reader* reader_;
  std::shared_ptr<DeviceImages> device_images_;
  bool leaves_on_device_ = false;
  std::string name_;
};

}  // namespace ridgeline::stream
