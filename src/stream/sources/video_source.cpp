// SPDX-License-Identifier: Apache-2.0
#include "stream/sources/video_source.hpp"

#include <utility>

#include "base/text.hpp"

namespace ridgeline::stream {

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

std::vector<std::string> VideoSource::notes() const { return notes_of(reader_.totals(), info_.name); }

std::vector<std::string> notes_of(const rl_video_totals& totals, const std::string& name) {
  std::vector<std::string> notes;
  if (totals.damaged > 0)
    notes.push_back(
        fmt::format("{}: {} skipped", name, base::counted(static_cast<std::size_t>(totals.damaged), "damaged frame")));
  if (totals.cut != 0)
    notes.push_back(fmt::format("{}: ends early, after {}: {}", name,
                                base::counted(static_cast<std::size_t>(totals.frames), "frame"), totals.reason));
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
  return info;
}

}  // namespace ridgeline::stream
