// SPDX-License-Identifier: Apache-2.0
#include "stream/video_reader.hpp"

#include <new>

namespace ridgeline::stream {

static_assert(static_cast<int>(PixelFormat::bgr24) == RL_VIDEO_BGR24);
static_assert(static_cast<int>(PixelFormat::rgb24) == RL_VIDEO_RGB24);
static_assert(static_cast<int>(PixelFormat::gray8) == RL_VIDEO_GRAY8);
static_assert(static_cast<int>(PixelFormat::nv12) == RL_VIDEO_NV12);
static_assert(kMaxSide == RL_VIDEO_MAX_SIDE);

VideoReader::VideoReader(const VideoLibrary& library) : library_(library), reader_(library.api().create()) {
  if (reader_ == nullptr) throw std::bad_alloc();
}

VideoReader::~VideoReader() { library_.api().close(reader_); }

base::Result<rl_video_info> VideoReader::open(const Input& input, const SourceOptions& options) {
  name_ = input.name;
  rl_video_options asked{};
  asked.struct_size = sizeof asked;
  asked.fd = input.fd;
  asked.threads = options.decoder_threads;
  asked.live = input.live ? 1 : 0;
  asked.timeout_ns = input.timeout.count();
  asked.open_timeout_ns = input.open_timeout.count();
  asked.format = input.demuxer.empty() ? nullptr : input.demuxer.c_str();
  asked.rtsp_transport = options.rtsp_transport.empty() ? nullptr : options.rtsp_transport.c_str();
  asked.width = options.camera_width;
  asked.height = options.camera_height;
  asked.fps = options.camera_fps;
  asked.apply_orientation = options.rotate ? 1 : 0;
  rl_video_info info{};
  info.struct_size = sizeof info;
  rl_video_error error{};
  error.struct_size = sizeof error;
  if (library_.api().open(reader_, input.url.c_str(), &asked, &info, &error) != RL_VIDEO_OK)
    return tl::unexpected(to_error(error, name_));
  return info;
}

base::Result<std::optional<std::int64_t>> VideoReader::next(Image& image, PixelFormat format) {
  rl_video_error error{};
  error.struct_size = sizeof error;
  rl_video_frame frame{};
  frame.struct_size = sizeof frame;
  const auto code = library_.api().read(reader_, &frame, &error);
  if (code == RL_VIDEO_END) return std::nullopt;
  if (code != RL_VIDEO_OK) return tl::unexpected(to_error(error, name_));
  // NV12 has a sample of colour for two rows and columns each.
  const int mask = format == PixelFormat::nv12 ? ~1 : ~0;
  image.width = frame.width & mask;
  image.height = frame.height & mask;
  image.format = format;
  image.bytes.resize(image_bytes(image.width, image.height, format));
  if (library_.api().convert(reader_, static_cast<std::int32_t>(format), image.bytes.data(), image.bytes.size(),
                             &error) != RL_VIDEO_OK)
    return tl::unexpected(to_error(error, name_));
  return frame.pts_ns;
}

rl_video_totals VideoReader::totals() const {
  rl_video_totals totals{};
  totals.struct_size = sizeof totals;
  library_.api().totals(reader_, &totals);
  return totals;
}

void VideoReader::interrupt() noexcept { library_.api().interrupt(reader_); }

}  // namespace ridgeline::stream
