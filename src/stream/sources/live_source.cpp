// SPDX-License-Identifier: Apache-2.0
#include "stream/sources/live_source.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "stream/sources/video_source.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;
using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kFirstDelay = 100ms;
constexpr std::chrono::nanoseconds kLongestDelay = 5s;
// A server that accepts and hangs up at once must not be asked ten times a second.
constexpr std::chrono::nanoseconds kGoodConnection = 5s;
// A source that is lost every minute for weeks must not fill the memory with notes.
constexpr std::size_t kMostEvents = 40;
constexpr std::int64_t kRecordingEndNs = 1'000'000'000;

}  // namespace

base::Result<std::unique_ptr<FrameSource>> LiveSource::open(const VideoLibrary& library,
                                                            const VideoReader::Input& input,
                                                            const SourceOptions& options) {
  std::unique_ptr<LiveSource> source(new LiveSource(library, input, options));
  RL_TRY(source->connect());
  source->last_frame_at_ = Clock::now();
  return source;
}

base::Result<void> LiveSource::connect() {
  auto reader = std::make_shared<VideoReader>(library_);
  {
    const std::scoped_lock lock(mutex_);
    reader_ = reader;
  }
  if (stop_.is_set()) return fail(ErrorCode::cancelled, "{}: interrupted", input_.name);
  RL_TRY_ASSIGN(const auto video, reader->open(input_, options_));
  if (info_.name.empty()) info_ = info_of(video, input_.name, true);
  duration_ns_ = video.duration_ns;
  connected_at_ = Clock::now();
  return {};
}

base::Result<std::optional<std::int64_t>> LiveSource::next(Image& image) {
  for (;;) {
    RL_TRY_ASSIGN(const auto pts, read(image));
    if (pts) {
      last_frame_at_ = Clock::now();
      last_ns_ = std::max(last_ns_, offset_ns_ + *pts);
      ++frames_;
      return last_ns_;
    }
    // A recording that a server sends is over at its end.
    if (duration_ns_ > 0 && last_ns_ - offset_ns_ >= duration_ns_ - kRecordingEndNs && lost_because_.empty())
      return std::nullopt;
    RL_TRY(reconnect());
  }
}

base::Result<std::optional<std::int64_t>> LiveSource::read(Image& image) {
  if (stop_.is_set()) return fail(ErrorCode::cancelled, "{}: interrupted", input_.name);
  auto pts = reader_->next(image, options_.format);
  if (pts && *pts) return pts;
  if (stop_.is_set()) return fail(ErrorCode::cancelled, "{}: interrupted", input_.name);
  if (!pts && pts.error().code == ErrorCode::out_of_memory) return pts;
  const auto totals = reader_->totals();
  lost_because_ = !pts              ? std::move(pts).error().message
                  : totals.cut != 0 ? fmt::format("{}: {}", input_.name, totals.reason)
                                    : std::string();
  damaged_ += totals.damaged;
  return std::nullopt;
}

base::Result<void> LiveSource::reconnect() {
  const auto lost_at = Clock::now();
  ++losses_;
  note(fmt::format("{}: connection lost after {}", lost_because_.empty() ? input_.name : lost_because_,
                   base::counted(static_cast<std::size_t>(frames_), "frame")));
  if (delay_.count() == 0 || lost_at - connected_at_ > kGoodConnection) delay_ = kFirstDelay;
  for (int attempts = 1;; ++attempts) {
    const auto left = options_.reconnect_for - (Clock::now() - lost_at);
    if (left.count() <= 0) break;
    if (!stop_.sleep_for(std::min<std::chrono::nanoseconds>(delay_, left)))
      return fail(ErrorCode::cancelled, "{}: interrupted", input_.name);
    delay_ = std::min(2 * delay_, kLongestDelay);
    const auto connected = connect();
    if (connected) {
      offset_ns_ = last_ns_ + std::chrono::nanoseconds(Clock::now() - last_frame_at_).count();
      note(fmt::format(
          "{}: back after {}, {}", input_.name,
          base::format_duration(static_cast<double>(std::chrono::nanoseconds(Clock::now() - lost_at).count())),
          base::counted(static_cast<std::size_t>(attempts), "attempt")));
      return {};
    }
    if (stop_.is_set()) return fail(ErrorCode::cancelled, "{}: interrupted", input_.name);
    lost_because_ = connected.error().message;
  }
  return fail(ErrorCode::io, "{}: not back within {}", lost_because_.empty() ? input_.name : lost_because_,
              base::format_duration(static_cast<double>(options_.reconnect_for.count())))
      .hint("see whether the camera or server still sends");
}

void LiveSource::note(std::string text) {
  if (events_.size() < kMostEvents) events_.push_back(std::move(text));
}

void LiveSource::interrupt() noexcept {
  stop_.set();
  std::shared_ptr<VideoReader> reader;
  {
    const std::scoped_lock lock(mutex_);
    reader = reader_;
  }
  if (reader) reader->interrupt();
}

std::vector<std::string> LiveSource::notes() const {
  auto notes = events_;
  if (2 * losses_ > kMostEvents) notes.push_back(fmt::format("{}: {} losses in all", input_.name, losses_));
  auto totals = reader_->totals();
  totals.damaged += damaged_;
  totals.cut = 0;
  for (auto& note : notes_of(totals, input_.name)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace ridgeline::stream
