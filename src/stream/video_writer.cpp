// SPDX-License-Identifier: Apache-2.0
#include "stream/video_writer.hpp"

namespace ridgeline::stream {
namespace {

constexpr double kUsualFps = 30;

rl_video_error empty_error() {
  rl_video_error error{};
  error.struct_size = sizeof error;
  return error;
}

}  // namespace

base::Result<std::unique_ptr<VideoWriter>> VideoWriter::create(const std::string& path, const Encoding& encoding) {
  RL_TRY_ASSIGN(const auto library, VideoLibrary::open(encoding.plugin));
  rl_video_encoding asked{};
  asked.struct_size = sizeof asked;
  asked.width = encoding.width;
  asked.height = encoding.height;
  asked.fps = encoding.fps == 0 ? kUsualFps : encoding.fps;
  asked.threads = encoding.threads;
  auto error = empty_error();
  rl_video_writer* writer = nullptr;
  if (library.api().create_writer(path.c_str(), &asked, &writer, &error) != RL_VIDEO_OK)
    return tl::unexpected(to_error(error, path));
  return std::unique_ptr<VideoWriter>(new VideoWriter(library, writer, path, encoding));
}

VideoWriter::~VideoWriter() { library_.api().close_writer(writer_); }

base::Result<void> VideoWriter::write(const Image& image, std::int64_t pts_ns) {
  if (image.width != width_ || image.height != height_ || image.format != PixelFormat::bgr24)
    return base::fail(base::ErrorCode::invalid_argument, "{}: a {} frame of {}x{}, expected bgr24 of {}x{}", path_,
                      to_string(image.format), image.width, image.height, width_, height_);
  auto error = empty_error();
  if (library_.api().write(writer_, image.bytes.data(), pts_ns, &error) != RL_VIDEO_OK)
    return tl::unexpected(to_error(error, path_));
  return {};
}

base::Result<void> VideoWriter::finish() {
  auto error = empty_error();
  if (library_.api().finish(writer_, &error) != RL_VIDEO_OK) return tl::unexpected(to_error(error, path_));
  return {};
}

}  // namespace ridgeline::stream
