// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "converter.hpp"
#include "ffmpeg.hpp"
#include "video_abi.h"

namespace ridgeline::video_plugin {

/// A video file under way: pictures in, H.264 or MPEG-4 out. All throw Refusal.
class Writer {
 public:
  Writer(const char* path, const rl_video_encoding& encoding);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

  void write(const std::uint8_t* bgr24, std::int64_t pts_ns);
  void finish();

 private:
  void open_file(const char* path, const rl_video_encoding& encoding);
  void open_encoder(const rl_video_encoding& encoding);
  void encode(const AVFrame* frame);
  void close() noexcept;

  AVFormatContext* format_ = nullptr;
  AVStream* stream_ = nullptr;
  Owned<AVCodecContext> encoder_;
  Owned<AVFrame> frame_{av_frame_alloc()};
  Owned<AVPacket> packet_{av_packet_alloc()};
  Converter converter_;
  std::int64_t last_pts_ = -1;  ///< in the encoder's unit
};

}  // namespace ridgeline::video_plugin
