// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "schema/message.hpp"
#include "stream/device_images.hpp"
#include "stream/image.hpp"
#include "stream/raw_format.hpp"

namespace ridgeline::stream {

/// Where frames come from, as a user says it.
struct SourceOptions {
  /// A video or picture file, a folder of pictures, a pattern of their names ("pics/*.jpg", "img%04d.png"), rtsp://,
  /// rtmp://, udp://, srt://, http:// ..., /dev/videoN or camera:N, synthetic:WxH[@FPS][xFRAMES], "-" for `fd`.
  std::string source;
  std::optional<RawFormat> raw;             ///< "-" or the file holds frames without headers
  bool rotate = true;                       ///< as the container or the picture's EXIF says
  PixelFormat format = PixelFormat::bgr24;  ///< of the pictures, but for raw ones, which stay as they are
  int fd = 0;                               ///< what "-" reads: standard input; stays the caller's
  int decoder_threads = 0;                  ///< 0: as many as there are processors
  std::string rtsp_transport = "tcp";       ///< or "udp"
  std::chrono::nanoseconds network_timeout = std::chrono::seconds(5);  ///< without a frame; also of cameras
  std::chrono::nanoseconds reconnect_for = std::chrono::seconds(30);   ///< then a lost live source is given up
  int camera_width = 0;                                                ///< 0: the camera's own choice
  int camera_height = 0;
  double camera_fps = 0;
  std::shared_ptr<DeviceImages> device_images;  ///< of the GPU that decodes videos where it can; null: the CPU does
  std::string video_plugin;                     ///< "": RIDGELINE_VIDEO_PLUGIN, else beside the program
  /// Told at once, from the thread that reads, that a live source was lost or is back.
  std::function<void(const schema::Message&)> on_note{};
};

/// "1280x720@30" or "1280x720": what a camera is asked for. Errors: invalid_argument, naming the part that is wrong.
[[nodiscard]] base::Result<void> set_camera_mode(std::string_view text, SourceOptions& options);

}  // namespace ridgeline::stream
