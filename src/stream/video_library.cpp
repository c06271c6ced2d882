// SPDX-License-Identifier: Apache-2.0
#include "stream/video_library.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/dynamic_library.hpp"
#include "base/file.hpp"

namespace ridgeline::stream {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;

constexpr const char* kVideoPlugin = "ridgeline_video.so";
constexpr const char* kInstall = "install FFmpeg 5's libraries: apt install libavformat59 libavdevice59 libswscale6";
constexpr const char* kBuild =
    "apt install libavformat-dev libavdevice-dev libswscale-dev and build Ridgeline again, or set "
    "RIDGELINE_VIDEO_PLUGIN";

/// True when the table holds every function of the version that it claims.
bool is_complete(const rl_video_api& api) {
  constexpr auto kFirstSize = offsetof(rl_video_api, close_writer) + sizeof(rl_video_api::close_writer);
  return api.struct_size >= kFirstSize && api.ffmpeg_version != nullptr && api.license != nullptr &&
         api.create != nullptr && api.open != nullptr && api.read != nullptr && api.convert != nullptr &&
         api.totals != nullptr && api.interrupt != nullptr && api.close != nullptr && api.create_writer != nullptr &&
         api.write != nullptr && api.finish != nullptr && api.close_writer != nullptr;
}

ErrorCode code_of(std::int32_t code) {
  switch (code) {
    case RL_VIDEO_INVALID:
    case RL_VIDEO_NO_STREAM: return ErrorCode::invalid_argument;
    case RL_VIDEO_NOT_FOUND: return ErrorCode::not_found;
    case RL_VIDEO_CORRUPT: return ErrorCode::corrupt;
    case RL_VIDEO_TIMEOUT: return ErrorCode::timeout;
    case RL_VIDEO_CANCELLED: return ErrorCode::cancelled;
    case RL_VIDEO_UNSUPPORTED: return ErrorCode::unsupported;
    case RL_VIDEO_OUT_OF_MEMORY: return ErrorCode::out_of_memory;
    default: return ErrorCode::io;
  }
}

}  // namespace

Result<fs::path> VideoLibrary::find(const std::string& named) {
  std::error_code ignored;
  const char* const set = std::getenv("RIDGELINE_VIDEO_PLUGIN");
  const bool from_environment = named.empty() && set != nullptr && *set != '\0';
  const std::string one = from_environment ? set : named;
  if (!one.empty()) {
    if (fs::is_regular_file(one, ignored)) return fs::absolute(one);
    return fail(ErrorCode::not_found, "{}{}: no such file", from_environment ? "RIDGELINE_VIDEO_PLUGIN " : "", one)
        .hint("name {}, or leave it out", kVideoPlugin);
  }
  const auto folder = base::executable_path().parent_path().parent_path() / "lib";
  if (fs::is_regular_file(folder / kVideoPlugin, ignored)) return folder / kVideoPlugin;
  return fail(ErrorCode::not_found, "video needs the plug-in {}, and there is none in {}", kVideoPlugin,
              folder.string())
      .hint("{}", kBuild);
}

Result<VideoLibrary> VideoLibrary::open(const std::string& named) {
  RL_TRY_ASSIGN(const auto path, find(named));
  const auto library = base::DynamicLibrary::open_file(path.string());
  if (!library)
    return fail(ErrorCode::unavailable, "the video plug-in cannot be loaded ({})", library.error().message)
        .hint("{}", kInstall);
  void* const symbol = library->symbol(RL_VIDEO_ENTRY);
  if (symbol == nullptr)
    return fail(ErrorCode::unavailable, "{} is no video plug-in: it has no function {}", path.string(), RL_VIDEO_ENTRY)
        .hint("{}", kBuild);
  rl_video_entry entry = nullptr;
  static_assert(sizeof entry == sizeof symbol);
  std::memcpy(&entry, &symbol, sizeof entry);
  const auto* const api = entry(RL_VIDEO_ABI_VERSION);
  if (api == nullptr || api->struct_size < 2 * sizeof(std::uint32_t) || api->abi_version != RL_VIDEO_ABI_VERSION ||
      !is_complete(*api))
    return fail(ErrorCode::unavailable, "video plug-in {} does not serve version {} of the interface", path.string(),
                RL_VIDEO_ABI_VERSION)
        .hint("{}", kBuild);
  return VideoLibrary(api, path);
}

std::string VideoLibrary::runtime() const { return fmt::format("FFmpeg {}, {}", api_->ffmpeg_version, api_->license); }

base::Error to_error(const rl_video_error& error, const std::string& name) {
  return base::Error{code_of(error.code), name.empty() ? error.message : fmt::format("{}: {}", name, error.message)};
}

}  // namespace ridgeline::stream
