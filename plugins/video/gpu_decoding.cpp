// SPDX-License-Identifier: Apache-2.0
#include "gpu_decoding.hpp"

#include <memory>
#include <utility>

#include "errors.hpp"

extern "C" {
#ifdef RL_VIDEO_CUDA
#include <libavutil/hwcontext_cuda.h>
#endif
#include <libavutil/pixdesc.h>
}

namespace ridgeline::video_plugin {
namespace {

// The caller copies a frame before it asks for the next one; this leaves room for one that is given and one that comes.
constexpr int kExtraFrames = 2;

struct BufferFreed {
  void operator()(AVBufferRef* it) const noexcept { av_buffer_unref(&it); }
};
using Buffer = std::unique_ptr<AVBufferRef, BufferFreed>;

Buffer device_of([[maybe_unused]] void* context) {
#ifdef RL_VIDEO_CUDA
  Buffer device(av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA));
  if (!device) throw Refusal(RL_VIDEO_UNSUPPORTED, "this FFmpeg has no CUDA");
  auto* const base = reinterpret_cast<AVHWDeviceContext*>(device->data);
  static_cast<AVCUDADeviceContext*>(base->hwctx)->cuda_ctx = static_cast<CUcontext>(context);
  clear_log();
  if (const int status = av_hwdevice_ctx_init(device.get()); status < 0)
    throw Refusal(code_of(status), "FFmpeg cannot use the GPU: " + logged_or(words_of(status)));
  return device;
#else
  throw Refusal(RL_VIDEO_UNSUPPORTED, "this build of the video plug-in has no CUDA");
#endif
}

bool is_of_host(AVPixelFormat format) {
  const auto* const description = av_pix_fmt_desc_get(format);
  return description != nullptr && (description->flags & AV_PIX_FMT_FLAG_HWACCEL) == 0;
}

}  // namespace

void GpuDecoding::refuse(std::string why) {
  if (why_not_.empty()) why_not_ = std::move(why);
}

void GpuDecoding::attach(AVCodecContext& decoder) {
  if (!is_wanted()) return;
  try {
    decoder.hw_device_ctx = device_of(context_).release();
  } catch (const Refusal& refusal) {
    return refuse(refusal.what());
  }
  decoder.opaque = this;
  decoder.get_format = choose;
  decoder.extra_hw_frames = kExtraFrames;
  // More threads decode no faster there, and each of them holds pictures of the few that there are.
  decoder.thread_count = 1;
}

std::string GpuDecoding::obstacle(const AVCodecContext& decoder, const AVPixelFormat* formats) {
  bool is_offered = false;
  for (const auto* one = formats; *one != AV_PIX_FMT_NONE; ++one) is_offered = is_offered || *one == AV_PIX_FMT_CUDA;
  if (!is_offered) return std::string("NVDEC does not decode this ") + avcodec_get_name(decoder.codec_id) + " video";
  // Frames of other kinds would not be NV12 as the CPU makes it.
  if (decoder.color_range == AVCOL_RANGE_JPEG || decoder.sw_pix_fmt == AV_PIX_FMT_YUVJ420P)
    return "its colors have the full range, which NVDEC keeps";
  if (decoder.sw_pix_fmt != AV_PIX_FMT_YUV420P && decoder.sw_pix_fmt != AV_PIX_FMT_NV12) {
    const auto* const name = av_get_pix_fmt_name(decoder.sw_pix_fmt);
    return std::string("its pixels are ") + (name != nullptr ? name : "of an unknown kind") + ", expected 8-bit 4:2:0";
  }
  return {};
}

// FFmpeg asks again, without the format, where the GPU turns out not to take it.
AVPixelFormat GpuDecoding::choose(AVCodecContext* decoder, const AVPixelFormat* formats) {
  auto& self = *static_cast<GpuDecoding*>(decoder->opaque);
  if (self.is_wanted()) {
    auto why = obstacle(*decoder, formats);
    if (why.empty()) return AV_PIX_FMT_CUDA;
    self.refuse(std::move(why));
  }
  for (const auto* one = formats; *one != AV_PIX_FMT_NONE; ++one)
    if (is_of_host(*one)) return *one;
  return AV_PIX_FMT_NONE;
}

void GpuDecoding::download(const AVFrame& frame, AVFrame& to) {
  av_frame_unref(&to);
  checked(av_hwframe_transfer_data(&to, &frame, 0), "copying a frame from the GPU");
}

}  // namespace ridgeline::video_plugin
