// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "stream/frame_source.hpp"
#include "stream/source_options.hpp"
#include "stream/video_reader.hpp"
#include "stream/wake_event.hpp"

namespace ridgeline::stream {

/// A camera or server that sends whether or not anybody reads: RTSP, RTMP, UDP, SRT, V4L2. One that is lost is opened
/// again, after 0.1 s, then twice as long each time up to 5 s, until SourceOptions::reconnect_for has passed (error
/// io). Times go on by the clock meanwhile and never go back. Each loss and return is told (on_note).
class LiveSource final : public FrameSource {
 public:
  /// The first connection is tried once: a wrong address must not take half a minute. Errors: VideoReader::open's.
  [[nodiscard]] static base::Result<std::unique_ptr<FrameSource>> open(const VideoLibrary& library,
                                                                       const VideoReader::Input& input,
                                                                       const SourceOptions& options);

  [[nodiscard]] const SourceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] base::Result<std::optional<std::int64_t>> next(Image& image) override;
  void leave_on_device() override;
  void interrupt() noexcept override;
  [[nodiscard]] std::vector<schema::Message> notes() const override;

 private:
  using Clock = std::chrono::steady_clock;

  LiveSource(const VideoLibrary& library, VideoReader::Input input, SourceOptions options);
  [[nodiscard]] base::Result<void> connect(std::chrono::nanoseconds most);
  [[nodiscard]] base::Fault interrupted() const;
  /// A frame; nullopt: the connection is over, for `lost_because_`.
  [[nodiscard]] base::Result<std::optional<std::int64_t>> read(Image& image);
  [[nodiscard]] base::Result<void> reconnect();
  void note(const schema::Message& message);

  VideoLibrary library_;
  std::string name_;
  VideoReader::Input input_;
  SourceOptions options_;
  SourceInfo info_;
  WakeEvent stop_;
  mutable std::mutex mutex_;             ///< guards reader_ itself; its frames belong to who calls next
  std::shared_ptr<VideoReader> reader_;  ///< shared with an interrupt under way

  bool leaves_on_device_ = false;
  std::int64_t duration_ns_ = -1;  ///< of a recording that a server sends
  std::string lost_because_;
  std::int64_t offset_ns_ = 0;  ///< what the present connection's times begin with
  std::int64_t last_ns_ = 0;
  Clock::time_point last_frame_at_;
  Clock::time_point connected_at_;
  std::chrono::nanoseconds delay_{0};
  std::int64_t frames_ = 0;
  std::int64_t damaged_ = 0;  ///< of connections that are over
  std::size_t losses_ = 0;
  std::size_t noted_ = 0;
};

}  // namespace ridgeline::stream
