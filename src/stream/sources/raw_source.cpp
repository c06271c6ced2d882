// SPDX-License-Identifier: Apache-2.0
#include "stream/sources/raw_source.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "stream/messages.hpp"

namespace ridgeline::stream {
namespace {

using base::ErrorCode;
using base::fail;

// A pipe of the usual 64 KiB would be waited for 42 times a frame of 1280x720; a user without privileges gets up to 1
// MiB.
constexpr int kPipeBytes = 1 << 20;

}  // namespace

RawSource::RawSource(std::string name, const RawFormat& format, InputFile file)
    : format_(format), file_(std::move(file)) {
  info_.name = std::move(name);
  info_.width = format.width;
  info_.height = format.height;
  info_.fps = format.fps;
  ::fcntl(file_.fd(), F_SETPIPE_SZ, kPipeBytes);
}

base::Result<std::optional<std::int64_t>> RawSource::next(Image& image) {
  image.width = format_.width;
  image.height = format_.height;
  image.format = format_.format;
  image.bytes.resize(image_bytes(format_.width, format_.height, format_.format));
  std::size_t filled = 0;
  while (!ended_ && filled < image.bytes.size()) {
    if (!stop_.wait_readable(file_.fd())) break;
    const auto got = ::read(file_.fd(), image.bytes.data() + filled, image.bytes.size() - filled);
    if (got > 0)
      filled += static_cast<std::size_t>(got);
    else if (got == 0)
      ended_ = true;
    else if (errno != EINTR && errno != EAGAIN)
      return fail(ErrorCode::io, "{} cannot be read: {}", info_.name, std::strerror(errno));
  }
  if (stop_.is_set()) return fail(ErrorCode::cancelled, "{}: interrupted", info_.name);
  if (filled == image.bytes.size())
    return static_cast<std::int64_t>(static_cast<double>(frames_++) * 1e9 / format_.fps + 0.5);
  if (frames_ == 0)
    return fail(ErrorCode::corrupt, "{}: ends after {} bytes, a {} frame of {}x{} has {}", info_.name, filled,
                to_string(format_.format), format_.width, format_.height, image.bytes.size());
  if (filled > 0)
    notes_.push_back(messages::ends_inside_frame({.source = info_.name,
                                                  .frame = frames_ + 1,
                                                  .got = static_cast<std::int64_t>(filled),
                                                  .expected = static_cast<std::int64_t>(image.bytes.size())}));
  return std::nullopt;
}

}  // namespace ridgeline::stream
