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
  device_images_ = options.device_images;
  asked.gpu_context = device_images_ ? device_images_->context() : nullptr;
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
  RL_TRY_ASSIGN(const bool is_kept, keep_on_device(frame, image));
  if (is_kept) return frame.pts_ns;
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

base::Result<bool> VideoReader::keep_on_device(const rl_video_frame& frame, Image& image) const {
  if (!leaves_on_device_ || !device_images_ || frame.gpu_planes[0] == 0) return false;
  const DeviceFrame planes{.width = frame.width & ~1,
                           .height = frame.height & ~1,
                           .luma = frame.gpu_planes[0],
                           .chroma = frame.gpu_planes[1],
                           .luma_stride = frame.gpu_strides[0],
                           .chroma_stride = frame.gpu_strides[1]};
  auto bytes = device_images_->copy(planes);
  if (!bytes && bytes.error().code == base::ErrorCode::out_of_memory) return false;
  if (!bytes) return tl::unexpected(std::move(bytes).error().in(name_));
  image.width = planes.width;
  image.height = planes.height;
  image.format = PixelFormat::nv12;
  image.bytes = *std::move(bytes);
  return true;
}

rl_video_totals VideoReader::totals() const {
  rl_video_totals totals{};
  totals.struct_size = sizeof totals;
  library_.api().totals(reader_, &totals);
  return totals;
}

void VideoReader::interrupt() noexcept { library_.api().interrupt(reader_); }

}  // namespace ridgeline::stream
