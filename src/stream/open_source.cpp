// SPDX-License-Identifier: Apache-2.0
#include "stream/open_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "stream/input_file.hpp"
#include "stream/sources/live_source.hpp"
#include "stream/sources/picture_list.hpp"
#include "stream/sources/picture_source.hpp"
#include "stream/sources/raw_source.hpp"
#include "stream/sources/synthetic_source.hpp"
#include "stream/sources/video_source.hpp"
#include "stream/video_library.hpp"

namespace ridgeline::stream {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using Opened = base::Result<std::unique_ptr<FrameSource>>;

constexpr std::string_view kSynthetic = "synthetic:";
constexpr std::string_view kCamera = "camera:";
constexpr std::string_view kDevice = "/dev/video";
constexpr const char* kKinds =
    "a source is a video file, a folder of pictures, 'pics/*.jpg', img%04d.png, rtsp://ADDRESS, /dev/videoN, "
    "synthetic:WxH or - for standard input";
// Those that send whether or not anybody reads.
constexpr std::array<std::string_view, 12> kLiveSchemes{"mms",    "rtmp", "rtmpe", "rtmps", "rtmpt", "rtmpte",
                                                        "rtmpts", "rtp",  "rtsp",  "rtsps", "srt",   "udp"};

/// "rtsp" of "rtsp://..."; "" where there is none.
std::string_view scheme_of(std::string_view source) {
  const auto end = source.find("://");
  if (end == std::string_view::npos || end == 0) return {};
  const auto scheme = source.substr(0, end);
  const bool is_word = std::all_of(scheme.begin(), scheme.end(), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '+' || letter == '-' || letter == '.';
  });
  return is_word ? scheme : std::string_view();
}

/// "/dev/video2" of "camera:2" or itself; "" for what is no camera.
std::string device_of(std::string_view source) {
  const auto begin = source.starts_with(kCamera) ? kCamera : kDevice;
  if (!source.starts_with(begin)) return {};
  const auto number = source.substr(begin.size());
  const bool is_number = !number.empty() && std::all_of(number.begin(), number.end(),
                                                        [](unsigned char letter) { return std::isdigit(letter) != 0; });
  return is_number ? fmt::format("{}{}", kDevice, number) : std::string();
}

Opened open_synthetic(const SourceOptions& options) {
  RL_TRY_ASSIGN(const auto pattern,
                SyntheticSource::parse(std::string_view(options.source).substr(kSynthetic.size()), options.format));
  return std::make_unique<SyntheticSource>(options.source, pattern);
}

Opened open_camera(const SourceOptions& options, const std::string& device) {
  std::error_code ignored;
  if (!fs::exists(device, ignored))
    return fail(ErrorCode::not_found, "{}: no such camera{}", options.source,
                device == options.source ? "" : fmt::format(", {} is not there", device))
        .hint("list cameras with: ls /dev/video*");
  RL_TRY_ASSIGN(const auto library, VideoLibrary::open(options.video_plugin));
  VideoReader::Input input;
  input.url = device;
  input.name = options.source;
  input.live = true;
  input.demuxer = "v4l2";
  input.timeout = input.open_timeout = options.network_timeout;
  return LiveSource::open(library, input, options);
}

Opened open_address(const SourceOptions& options, std::string_view scheme) {
  if (options.rtsp_transport != "tcp" && options.rtsp_transport != "udp")
    return fail(ErrorCode::invalid_argument, "RTSP transport \"{}\": expected tcp or udp", options.rtsp_transport);
  RL_TRY_ASSIGN(const auto library, VideoLibrary::open(options.video_plugin));
  VideoReader::Input input;
  input.url = options.source;
  input.name = source_name(options.source);
  input.live = std::find(kLiveSchemes.begin(), kLiveSchemes.end(), scheme) != kLiveSchemes.end();
  input.timeout = input.open_timeout = options.network_timeout;
  if (input.live) return LiveSource::open(library, input, options);
  return VideoSource::open(library, input, options, std::nullopt);
}

Opened open_file(const SourceOptions& options, const std::string& path, InputFile file) {
  const auto name = options.source == "-" ? std::string("standard input") : options.source;
  if (options.raw) return std::make_unique<RawSource>(name, *options.raw, std::move(file));
  RL_TRY_ASSIGN(const auto library, VideoLibrary::open(options.video_plugin));
  VideoReader::Input input;
  input.url = path;
  input.name = name;
  input.fd = file.fd();
  return VideoSource::open(library, input, options, std::move(file));
}

Opened open_pictures(const SourceOptions& options, base::Result<PictureList> list) {
  if (!list) return tl::unexpected(std::move(list).error());
  if (options.raw)
    return fail(ErrorCode::invalid_argument, "{}: a raw format does not fit a list of pictures", options.source);
  RL_TRY_ASSIGN(const auto library, VideoLibrary::open(options.video_plugin));
  return PictureSource::open(library, options.source, *std::move(list), options);
}

Opened open_path(const SourceOptions& options, const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return open_pictures(options, pictures_in(path));
  // A file that is there is itself, whatever its name has.
  if (!fs::exists(path, ignored)) {
    if (is_glob(path)) return open_pictures(options, pictures_like(path));
    if (is_numbered(path)) return open_pictures(options, numbered_pictures(path));
  }
  auto file = InputFile::open(path);
  if (file) return open_file(options, path, *std::move(file));
  if (file.error().code == ErrorCode::not_found) file.error().hint = kKinds;
  return tl::unexpected(std::move(file).error());
}

}  // namespace

std::string source_name(const std::string& source) {
  const auto scheme = scheme_of(source);
  if (scheme.empty()) return source;
  const auto begin = scheme.size() + 3;
  const auto host_end = std::min(source.find('/', begin), source.size());
  const auto at = source.rfind('@', host_end);
  if (at == std::string::npos || at < begin || at >= host_end) return source;
  const auto colon = source.find(':', begin);
  if (colon == std::string::npos || colon > at) return source;
  return source.substr(0, colon + 1) + "***" + source.substr(at);
}

Opened open_source(const SourceOptions& options) {
  const auto& source = options.source;
  if (source.empty()) return fail(ErrorCode::invalid_argument, "the source is empty").hint("name a video file");
  if (source == "-") return open_file(options, source, InputFile::borrow(options.fd));
  const auto device = device_of(source);
  const auto scheme = scheme_of(source);
  if (options.raw && (source.starts_with(kSynthetic) || !device.empty() || !scheme.empty()))
    return fail(ErrorCode::invalid_argument, "{}: a raw format is for files and standard input", source_name(source));
  if (source.starts_with(kSynthetic)) return open_synthetic(options);
  if (!device.empty()) return open_camera(options, device);
  if (source.starts_with(kCamera))
    return fail(ErrorCode::invalid_argument, "{}: expected camera:N with a number", source);
  if (scheme == "file") return open_path(options, source.substr(std::string_view("file://").size()));
  if (!scheme.empty()) return open_address(options, scheme);
  return open_path(options, source);
}

}  // namespace ridgeline::stream
