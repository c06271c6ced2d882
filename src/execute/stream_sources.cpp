// SPDX-License-Identifier: Apache-2.0
#include "execute/stream_sources.hpp"

#include <algorithm>
#include <utility>

#include "execute/stream_protocol.hpp"
#include "stream/open_source.hpp"

namespace ridgeline::execute {
namespace {

/// Of a load's frames, which are decoded before the run and repeated.
constexpr std::size_t kMostClipFrames = 256;

}  // namespace

int OpenedSource::width() const { return waits_for_first() ? source->info().width : picture().width; }
int OpenedSource::height() const { return waits_for_first() ? source->info().height : picture().height; }

base::Result<OpenedSource> open_stream_source(const schema::StreamSpec& spec, const schema::StreamSource& wanted,
                                              std::function<void(const schema::Message&)> on_note,
                                              std::shared_ptr<stream::DeviceImages> device_images) {
  const bool has_pipe =
      std::any_of(spec.sources.begin(), spec.sources.end(), [](const auto& source) { return source.location == "-"; });
  stream::SourceOptions options;
  options.source = wanted.location;
  options.fd = kStreamInputFd;
  options.rotate = spec.settings.rotate == "auto";
  options.reconnect_for = base::from_seconds(spec.reconnect_s);
  options.rtsp_transport = spec.rtsp_transport;
  options.on_note = std::move(on_note);
  options.device_images = std::move(device_images);
  if (!spec.camera.empty()) RL_TRY(stream::set_camera_mode(spec.camera, options));
  if (!spec.raw.empty() && (wanted.location == "-" || !has_pipe)) {
    RL_TRY_ASSIGN(options.raw, stream::parse_raw_format(spec.raw));
  }
  OpenedSource opened;
  RL_TRY_ASSIGN(opened.source, stream::open_source(options));
  opened.pace = opened.source->info().is_live || wanted.live ? stream::Pace::live
                : wanted.realtime                            ? stream::Pace::realtime
                                                             : stream::Pace::fastest;
  return opened;
}

base::Result<void> take_first(OpenedSource& opened, stream::ImagePool& pool) {
  for (;;) {
    RL_TRY_ASSIGN(auto frame, stream::take_frame(*opened.source, pool));
    if (!frame) return base::fail(base::ErrorCode::corrupt, "{}: no frame in it", opened.source->info().name);
    const bool is_whole = frame->image != nullptr;
    opened.first.push_back(std::move(*frame));
    if (is_whole) return {};
  }
}

base::Result<LoadClip> decode_clip(OpenedSource& opened, std::size_t most_bytes,
                                   const std::shared_ptr<stream::ImageMemory>& memory) {
  LoadClip clip;
  std::size_t bytes = 0;
  const auto add = [&](stream::TakenFrame frame) {
    bytes += frame.image->bytes.size();
    clip.pictures.push_back(std::move(frame.image));
    if (opened.source->info().has_labels) clip.labels.push_back(std::move(frame.label));
  };
  add(opened.first.back());
  while (clip.pictures.size() < kMostClipFrames && bytes < most_bytes) {
    // Not of the pool: a clip lives as long as the run.
    stream::TakenFrame frame{std::make_shared<stream::Image>()};
    frame.image->bytes = stream::ImageBytes(memory);
    RL_TRY_ASSIGN(const auto pts, opened.source->next(*frame.image));
    if (!pts) break;
    frame.label = opened.source->label();
    if (frame.label.damage.empty()) add(std::move(frame));
  }
  return clip;
}

}  // namespace ridgeline::execute
