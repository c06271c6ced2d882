// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "stream/video_abi.h"

namespace ridgeline::stream {

/// The video plug-in, opened. It brings FFmpeg's libraries along, so this is for worker processes only. It stays open
/// until the process ends; opening it again is cheap.
class VideoLibrary {
 public:
  /// `named` when it is not empty, else RIDGELINE_VIDEO_PLUGIN when that is set, else ridgeline_video.so beside the
  /// program (../lib), which is in its build folder too. Errors, one line with what to install: not_found (there is
  /// none), unavailable (FFmpeg's libraries are missing, or the plug-in has another version of the interface).
  [[nodiscard]] static base::Result<VideoLibrary> open(const std::string& named = "");
  /// The file that open() would open. Errors: not_found.
  [[nodiscard]] static base::Result<std::filesystem::path> find(const std::string& named = "");

  [[nodiscard]] const rl_video_api& api() const noexcept { return *api_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// "FFmpeg 5.1.9-0+deb12u1, GPL version 2 or later"
  [[nodiscard]] std::string runtime() const;

 private:
  VideoLibrary(const rl_video_api* api, std::filesystem::path path) : api_(api), path_(std::move(path)) {}
  const rl_video_api* api_;
  std::filesystem::path path_;
};

/// A failed call's error, with what it was about before the message; "": without.
[[nodiscard]] base::Error to_error(const rl_video_error& error, const std::string& name);

}  // namespace ridgeline::stream
