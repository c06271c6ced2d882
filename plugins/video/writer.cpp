// SPDX-License-Identifier: Apache-2.0
#include "writer.hpp"

#include <algorithm>
#include <new>
#include <string_view>

#include "errors.hpp"

namespace ridgeline::video_plugin {
namespace {

// Fits every usual rate exactly, and the 16 bits that MPEG-4 has for it.
constexpr AVRational kTick{1, 60'000};
constexpr int kHighestFps = 1000;

const AVCodec& find_encoder() {
  // OpenH264 wants libraries of its own and hardware encoders a device: x264 alone always works where it is built in.
  if (const auto* const x264 = avcodec_find_encoder_by_name("libx264"); x264 != nullptr) return *x264;
  if (const auto* const mpeg4 = avcodec_find_encoder(AV_CODEC_ID_MPEG4); mpeg4 != nullptr) return *mpeg4;
  throw Refusal(RL_VIDEO_UNSUPPORTED, "this FFmpeg encodes neither H.264 nor MPEG-4");
}

void check(const rl_video_encoding& encoding) {
  for (const auto side : {encoding.width, encoding.height})
    if (side < 2 || side > RL_VIDEO_MAX_SIDE || side % 2 != 0)
      throw Refusal(RL_VIDEO_INVALID, "a video of " + std::to_string(encoding.width) + "x" +
                                          std::to_string(encoding.height) + ": expected even sides from 2 to " +
                                          std::to_string(RL_VIDEO_MAX_SIDE));
  if (!(encoding.fps > 0 && encoding.fps <= kHighestFps))
    throw Refusal(RL_VIDEO_INVALID, "a video of " + std::to_string(encoding.fps) +
                                        " frames per second: expected up to " + std::to_string(kHighestFps));
}

}  // namespace

Writer::Writer(const char* path, const rl_video_encoding& encoding) {
  check(encoding);
  if (!frame_ || !packet_) throw std::bad_alloc();
  clear_log();
  try {
    open_file(path, encoding);
  } catch (...) {
    close();
    throw;
  }
}

Writer::~Writer() { close(); }

void Writer::open_file(const char* path, const rl_video_encoding& encoding) {
  const int known = avformat_alloc_output_context2(&format_, nullptr, nullptr, path);
  if (known < 0 || format_ == nullptr)
    throw Refusal(RL_VIDEO_INVALID, "no video container has this ending: expected .mp4, .avi or .mkv");
  stream_ = avformat_new_stream(format_, nullptr);
  if (stream_ == nullptr) throw std::bad_alloc();
  open_encoder(encoding);
  checked(avcodec_parameters_from_context(stream_->codecpar, encoder_.get()), "parameters of the video");
  stream_->time_base = encoder_->time_base;
  stream_->avg_frame_rate = encoder_->framerate;
  const int opened = avio_open(&format_->pb, (std::string("file:") + path).c_str(), AVIO_FLAG_WRITE);
  if (opened < 0) throw Refusal(code_of(opened), "cannot be written: " + words_of(opened));
  checked(avformat_write_header(format_, nullptr), "cannot be written");
}

void Writer::open_encoder(const rl_video_encoding& encoding) {
  const auto& codec = find_encoder();
  encoder_.reset(avcodec_alloc_context3(&codec));
  if (!encoder_) throw std::bad_alloc();
  encoder_->width = encoding.width;
  encoder_->height = encoding.height;
  encoder_->pix_fmt = AV_PIX_FMT_YUV420P;
  encoder_->framerate = av_d2q(encoding.fps, 60'000);
  // An AVI has no times: its unit is the frame.
  const bool by_frames = std::string_view(format_->oformat->name) == "avi";
  encoder_->time_base = by_frames ? av_inv_q(encoder_->framerate) : kTick;
  encoder_->thread_count = encoding.threads;
  encoder_->max_b_frames = 0;  // an AVI cannot hold them
  if ((format_->oformat->flags & AVFMT_GLOBALHEADER) != 0) encoder_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  Options options;
  if (codec.id == AV_CODEC_ID_H264) {
    // The encoder shares the processors with the model.
    options.set("preset", "veryfast");
    options.set("crf", "23");
  } else {
    encoder_->flags |= AV_CODEC_FLAG_QSCALE;
    encoder_->global_quality = 4 * FF_QP2LAMBDA;
  }
  checked(avcodec_open2(encoder_.get(), &codec, options.entries()), std::string("encoder ") + codec.name);
}

void Writer::write(const std::uint8_t* bgr24, std::int64_t pts_ns) {
  if (!encoder_) throw Refusal(RL_VIDEO_INVALID, "the video is finished already");
  clear_log();
  // The encoder may still hold the last one's memory.
  av_frame_unref(frame_.get());
  frame_->width = encoder_->width;
  frame_->height = encoder_->height;
  frame_->format = encoder_->pix_fmt;
  checked(av_frame_get_buffer(frame_.get(), 0), "memory for a frame");
  converter_.fill(*frame_, bgr24);
  last_pts_ = std::max(last_pts_ + 1, av_rescale_q(pts_ns, kNanosecond, encoder_->time_base));
  frame_->pts = last_pts_;
  encode(frame_.get());
}

void Writer::encode(const AVFrame* frame) {
  checked(avcodec_send_frame(encoder_.get(), frame), "encoder");
  for (;;) {
    const int got = avcodec_receive_packet(encoder_.get(), packet_.get());
    if (got == AVERROR(EAGAIN) || got == AVERROR_EOF) return;
    checked(got, "encoder");
    packet_->stream_index = stream_->index;
    av_packet_rescale_ts(packet_.get(), encoder_->time_base, stream_->time_base);
    checked(av_interleaved_write_frame(format_, packet_.get()), "cannot be written");
  }
}

void Writer::finish() {
  if (!encoder_) return;
  clear_log();
  encode(nullptr);
  encoder_.reset();
  checked(av_write_trailer(format_), "cannot be written");
  checked(avio_closep(&format_->pb), "cannot be written");
}

void Writer::close() noexcept {
  encoder_.reset();
  if (format_ == nullptr) return;
  avio_closep(&format_->pb);
  avformat_free_context(format_);
  format_ = nullptr;
}

}  // namespace ridgeline::video_plugin
