// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "converter.hpp"
#include "fd_input.hpp"
#include "ffmpeg.hpp"
#include "gpu_decoding.hpp"
#include "orientation.hpp"
#include "stop_signal.hpp"
#include "video_abi.h"

namespace ridgeline::video_plugin {

/// One video stream, decoded frame after frame. All throw Refusal; one thread at a time, but for interrupt.
class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  /// Decodes the first frame as well: what cannot be decoded is refused here, and the sides that are told are its own.
  void open(const char* url, const rl_video_options& options, rl_video_info& info);
  /// False: the end.
  [[nodiscard]] bool read(rl_video_frame& frame);
  void convert(std::int32_t pixels, std::uint8_t* bytes, std::size_t size);
  void totals(rl_video_totals& out) const noexcept;
  void interrupt() noexcept { stop_.interrupt(); }

 private:
  void open_input(const char* url, const rl_video_options& options);
  void find_stream();
  /// What the container says of how its frames are to be seen.
  void find_orientation();
  void open_decoder(const rl_video_options& options);
  /// The first frame; where the GPU gives none, the CPU decodes what was read once more.
  [[nodiscard]] bool decode_first(const rl_video_options& options);
  /// Into the decoder; its packet is then empty.
  void send(AVPacket& packet);
  void describe(rl_video_info& info) const noexcept;

  bool decode();
  void feed();
  /// A picture's packet is its file. False: it is damaged.
  [[nodiscard]] bool look_at_picture();
  void end_input();
  [[nodiscard]] std::int64_t expected_packets() const noexcept;
  [[nodiscard]] std::int64_t frame_ns() const noexcept;
  void set_time();
  /// Throws what stopped a call of FFmpeg that ended with that error, if something did.
  void check_stopped(int averror) const;

  StopSignal stop_;
  std::chrono::nanoseconds limit_{0};
  std::unique_ptr<FdInput> input_;
  AVFormatContext* format_ = nullptr;
  AVStream* stream_ = nullptr;
  Owned<AVCodecContext> decoder_;
  Owned<AVPacket> packet_{av_packet_alloc()};
  Owned<AVFrame> frame_{av_frame_alloc()};
  Converter converter_;
  GpuDecoding gpu_;
  Owned<AVFrame> downloaded_{av_frame_alloc()};  ///< a frame of the GPU in the host's memory
  bool is_trying_gpu_ = false;                   ///< packets are kept until the first frame
  std::deque<Owned<AVPacket>> kept_;
  std::deque<Owned<AVPacket>> again_;  ///< come before those that are still to be read

  bool is_one_picture_ = false;
  bool applies_orientation_ = false;
  Orientation orientation_ = Orientation::normal;  ///< of the newest frame, where it is applied
  double other_angle_ = 0;
  bool first_is_waiting_ = false;  ///< decoded by open, not yet given
  bool draining_ = false;
  int failures_in_a_row_ = 0;
  std::int64_t packets_ = 0;
  std::int64_t frames_ = 0;
  std::int64_t damaged_ = 0;
  std::int64_t interlaced_ = 0;
  std::int64_t first_pts_ = AV_NOPTS_VALUE;  ///< in the stream's unit
  std::int64_t pts_ns_ = -1;                 ///< of the newest frame
  std::string cut_;                          ///< why reading stopped too early
};

}  // namespace ridgeline::video_plugin
