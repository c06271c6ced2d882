// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ffmpeg.hpp"

namespace ridgeline::video_plugin {

/// Whether and how an NVIDIA GPU decodes a video (NVDEC, through FFmpeg's hwaccel).
class GpuDecoding {
 public:
  /// `context`: a CUcontext; null: none is wanted.
  void want(void* context) noexcept { context_ = context; }
  /// From now on the CPU decodes; the first reason is kept.
  void refuse(std::string why);
  [[nodiscard]] bool is_wanted() const noexcept { return context_ != nullptr && why_not_.empty(); }
  /// "": it was not wanted, or decodes.
  [[nodiscard]] const std::string& why_not() const noexcept { return why_not_; }

  /// Before the decoder is opened: it will decode on the GPU if the video is one that it takes, else refuse().
  void attach(AVCodecContext& decoder);
  /// Copies a frame of the GPU to `to`, in the host's memory. Throws Refusal.
  static void download(const AVFrame& frame, AVFrame& to);

 private:
  [[nodiscard]] static AVPixelFormat choose(AVCodecContext* decoder, const AVPixelFormat* formats);
  [[nodiscard]] static std::string obstacle(const AVCodecContext& decoder, const AVPixelFormat* formats);

  void* context_ = nullptr;
  std::string why_not_;
};

[[nodiscard]] inline bool is_on_gpu(const AVFrame& frame) noexcept { return frame.format == AV_PIX_FMT_CUDA; }

}  // namespace ridgeline::video_plugin
