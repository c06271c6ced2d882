// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavdevice/avdevice.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
}

namespace ridgeline::video_plugin {

/// The unit of our times.
inline constexpr AVRational kNanosecond{1, 1'000'000'000};

/// FFmpeg's objects, each freed by FFmpeg's own function.
struct Freed {
  void operator()(AVCodecContext* it) const noexcept { avcodec_free_context(&it); }
  void operator()(AVFrame* it) const noexcept { av_frame_free(&it); }
  void operator()(AVPacket* it) const noexcept { av_packet_free(&it); }
  void operator()(SwsContext* it) const noexcept { sws_freeContext(it); }
};
template <typename T>
using Owned = std::unique_ptr<T, Freed>;

/// The options of a call, some of which it takes out.
class Options {
 public:
  Options() = default;
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  ~Options() { av_dict_free(&entries_); }
  void set(const char* key, const char* value) { av_dict_set(&entries_, key, value, 0); }
  void set(const char* key, std::int64_t value) { av_dict_set_int(&entries_, key, value, 0); }
  [[nodiscard]] AVDictionary** entries() noexcept { return &entries_; }

 private:
  AVDictionary* entries_ = nullptr;
};

}  // namespace ridgeline::video_plugin
