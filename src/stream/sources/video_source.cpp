// SPDX-License-Identifier: Apache-2.0
#include "stream/sources/video_source.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace ridgeline::stream {
namespace {

constexpr const char* kInterlaced =
    "is not undone: moving edges look like combs; deinterlace it first, for example with ffmpeg -vf bwdif";

/// "" where nothing was done.
std::string_view orientation_text(std::int32_t orientation) {
  constexpr std::array<std::string_view, 9> kTexts{"",
                                                   "",
                                                   "mirrored",
                                                   "rotated by 180 degrees",
                                                   "flipped upside down",
                                                   "rotated by 90 degrees and mirrored",
                                                   "rotated by 90 degrees",
                                                   "rotated by 270 degrees and mirrored",
                                                   "rotated by 270 degrees"};
  return orientation > 0 && orientation < 9 ? kTexts[static_cast<std::size_t>(orientation)] : "";
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

std::vector<std::string> VideoSource::notes() const { return notes_of(reader_.totals(), info_); }

std::vector<std::string> notes_of(const rl_video_totals& totals, const SourceInfo& info) {
  const auto& name = info.name;
  std::vector<std::string> notes;
  if (totals.damaged > 0)
    notes.push_back(
        fmt::format("{}: {} skipped", name, base::counted(static_cast<std::size_t>(totals.damaged), "damaged frame")));
  if (totals.cut != 0)
    notes.push_back(fmt::format("{}: ends early, after {}: {}", name,
                                base::counted(static_cast<std::size_t>(totals.frames), "frame"), totals.reason));
  if (totals.interlaced > 0 && !info.is_interlaced)
    notes.push_back(fmt::format("{}: {} of {} are interlaced, which {}", name, totals.interlaced,
                                base::counted(static_cast<std::size_t>(totals.frames), "frame"), kInterlaced));
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
  info.decoder = video.decoder;
  info.is_interlaced = video.fields != RL_VIDEO_WHOLE_FRAMES;
  if (const auto done = orientation_text(video.orientation); !done.empty())
    info.notes.push_back(fmt::format("{}: {} as the file says; rotate: 0 leaves it as stored", info.name, done));
  if (video.other_angle != 0)
    info.notes.push_back(fmt::format(
        "{}: the file says that it is to be seen rotated by {:.4g} degrees, which is not done: only quarter "
        "turns are",
        info.name, video.other_angle));
  if (info.is_interlaced)
    info.notes.push_back(fmt::format("{}: interlaced ({} field first), which {}", info.name,
                                     video.fields == RL_VIDEO_TOP_FIELD_FIRST ? "top" : "bottom", kInterlaced));
  return info;
}

}  // namespace ridgeline::stream
