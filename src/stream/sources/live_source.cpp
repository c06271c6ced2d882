// SPDX-License-Identifier: Apache-2.0
#include "stream/sources/live_source.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "stream/messages.hpp"
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
// A source that is lost every minute for weeks must not fill the run with notes.
constexpr std::size_t kMostEvents = 40;
constexpr std::int64_t kRecordingEndNs = 1'000'000'000;

}  // namespace

LiveSource::LiveSource(const VideoLibrary& library, VideoReader::Input input, SourceOptions options)
    : library_(library), name_(input.name), input_(std::move(input)), options_(std::move(options)) {
  input_.name.clear();  // a reader's error is the reason that a message of ours ends with
}

base::Result<std::unique_ptr<FrameSource>> LiveSource::open(const VideoLibrary& library,
                                                            const VideoReader::Input& input,
                                                            const SourceOptions& options) {
  std::unique_ptr<LiveSource> source(new LiveSource(library, input, options));
  auto connected = source->connect(input.open_timeout);
  if (!connected) return tl::unexpected(std::move(connected).error().in(source->name_));
  source->last_frame_at_ = Clock::now();
  return source;
}

base::Result<void> LiveSource::connect(std::chrono::nanoseconds most) {
  auto reader = std::make_shared<VideoReader>(library_);
  {
    const std::scoped_lock lock(mutex_);
    reader_ = reader;
  }
  // An interruption before this line has met the reader that came before.
  if (stop_.is_set()) return interrupted();
  auto input = input_;
  input.open_timeout = most;
  RL_TRY_ASSIGN(const auto video, reader->open(input, options_));
  if (leaves_on_device_) reader->leave_on_device();
  if (info_.name.empty()) info_ = info_of(video, name_, true);
  duration_ns_ = video.duration_ns;
  connected_at_ = Clock::now();
  return {};
}

void LiveSource::leave_on_device() {
  leaves_on_device_ = true;
  reader_->leave_on_device();
}

base::Fault LiveSource::interrupted() const { return fail(ErrorCode::cancelled, "{}: interrupted", name_); }

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
  if (stop_.is_set()) return interrupted();
  auto pts = reader_->next(image, options_.format);
  if (pts && *pts) return pts;
  if (stop_.is_set()) return interrupted();
  if (!pts && pts.error().code == ErrorCode::out_of_memory) return pts;
  if (!pts) {
    lost_because_ = std::move(pts).error().message;
  } else {
    const auto totals = reader_->totals();
    lost_because_ = totals.cut != 0 ? totals.reason : "";
  }
  return std::nullopt;
}

base::Result<void> LiveSource::reconnect() {
  const auto lost_at = Clock::now();
  const auto since = [&] { return std::chrono::nanoseconds(Clock::now() - lost_at); };
  damaged_ += reader_->totals().damaged;
  ++losses_;
  note(messages::connection_lost({.source = name_, .frames = frames_, .reason = lost_because_}));
  if (delay_.count() == 0 || lost_at - connected_at_ > kGoodConnection) delay_ = kFirstDelay;
  for (std::size_t attempts = 1; since() < options_.reconnect_for; ++attempts) {
    if (!stop_.sleep_for(std::min(delay_, options_.reconnect_for - since()))) return interrupted();
    delay_ = std::min(2 * delay_, kLongestDelay);
    const auto left = std::max<std::chrono::nanoseconds>(options_.reconnect_for - since(), kFirstDelay);
    const auto connected = connect(std::min(left, options_.network_timeout));
    if (connected) {
      offset_ns_ = last_ns_ + std::chrono::nanoseconds(Clock::now() - last_frame_at_).count();
      note(messages::connection_back({.source = name_,
                                      .after = static_cast<double>(since().count()),
                                      .attempts = static_cast<std::int64_t>(attempts)}));
      return {};
    }
    if (stop_.is_set()) return interrupted();
    lost_because_ = connected.error().message;
  }
  return fail(ErrorCode::io, "{}: lost after {} and not back within {}{}", name_,
              base::counted(static_cast<std::size_t>(frames_), "frame"),
              base::format_duration(static_cast<double>(options_.reconnect_for.count())),
              lost_because_.empty() ? "" : " (" + lost_because_ + ")")
      .hint("see whether it still sends");
}

void LiveSource::note(const schema::Message& message) {
  if (++noted_ <= kMostEvents && options_.on_note) options_.on_note(message);
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

std::vector<schema::Message> LiveSource::notes() const {
  std::vector<schema::Message> notes;
  if (2 * losses_ > kMostEvents)
    notes.push_back(messages::connection_losses({.source = name_, .losses = static_cast<std::int64_t>(losses_)}));
  auto totals = reader_->totals();
  totals.damaged += damaged_;
  totals.cut = 0;
  for (auto& note : notes_of(totals, info_)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace ridgeline::stream
