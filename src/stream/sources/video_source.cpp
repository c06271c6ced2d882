// SPDX-License-Identifier: Apache-2.0
#include "stream/sources/video_source.hpp"

#include <array>
#include <utility>

#include "stream/messages.hpp"

namespace ridgeline::stream {
namespace {

/// What was done with frames of that orientation, as EXIF numbers it; none where nothing was.
std::optional<messages::TurnedHow> turn_of(std::int32_t orientation) {
  using enum messages::TurnedHow;
  constexpr std::array kTurns{mirrored, by_180, flipped, by_90_mirrored, by_90, by_270_mirrored, by_270};
  return orientation >= 2 && orientation < 9 ? std::optional(kTurns[static_cast<std::size_t>(orientation) - 2])
                                             : std::nullopt;
}

}  // namespace

base::Result<std::unique_ptr<FrameSource>> VideoSource::open(const VideoLibrary& library,
                                                             const VideoReader::Input& input,
                                                             const SourceOptions& options,
                                                             std::optional<InputFile> file) {
  std::unique_ptr<VideoSource> source(new VideoSource(library, options.format, std::move(file)));
  RL_TRY_ASSIGN(const auto video, source->reader_.open(input, options));
  source->info_ = info_of(video, input.name, input.live);
  return source;
}

base::Result<std::optional<std::int64_t>> VideoSource::next(Image& image) { return reader_.next(image, format_); }

std::vector<schema::Message> VideoSource::notes() const { return notes_of(reader_.totals(), info_); }

std::vector<schema::Message> notes_of(const rl_video_totals& totals, const SourceInfo& info) {
  const auto& name = info.name;
  std::vector<schema::Message> notes;
  if (totals.damaged > 0) notes.push_back(messages::damaged_frames({.source = name, .frames = totals.damaged}));
  if (totals.cut != 0)
    notes.push_back(messages::ends_early({.source = name, .frames = totals.frames, .reason = totals.reason}));
  if (totals.interlaced > 0 && !info.is_interlaced)
    notes.push_back(
        messages::interlaced_frames({.source = name, .interlaced = totals.interlaced, .frames = totals.frames}));
  return notes;
}

SourceInfo info_of(const rl_video_info& video, std::string name, bool is_live) {
  SourceInfo info;
  info.name = std::move(name);
  info.width = video.width;
  info.height = video.height;
  info.fps = video.fps;
  info.frames = is_live ? -1 : video.frames;
  info.is_live = is_live;
  info.decoder = video.on_gpu != 0 ? std::string(video.decoder) + " by NVDEC" : video.decoder;
  if (video.why_not_on_gpu[0] != '\0')
    info.notes.push_back(messages::decoded_on_cpu({.source = info.name, .why = video.why_not_on_gpu}));
  info.is_interlaced = video.fields != RL_VIDEO_WHOLE_FRAMES;
  if (const auto how = turn_of(video.orientation))
    info.notes.push_back(messages::turned({.source = info.name, .how = *how}));
  if (video.other_angle != 0)
    info.notes.push_back(messages::not_turned({.source = info.name, .degrees = video.other_angle}));
  if (info.is_interlaced) {
    using enum messages::InterlacedFirst;
    info.notes.push_back(
        messages::interlaced({.source = info.name, .first = video.fields == RL_VIDEO_TOP_FIELD_FIRST ? top : bottom}));
  }
  return info;
}

}  // namespace ridgeline::stream
