// SPDX-License-Identifier: Apache-2.0
#include "stream/source_options.hpp"

namespace ridgeline::stream {

base::Result<void> set_camera_mode(std::string_view text, SourceOptions& options) {
  constexpr std::string_view kWhat = "camera";
  const auto rate = text.find('@');
  RawFormat size;
  RL_TRY(parse_size(text.substr(0, rate), kWhat, size));
  options.camera_width = size.width;
  options.camera_height = size.height;
  if (rate != std::string_view::npos) {
    RL_TRY_ASSIGN(options.camera_fps, parse_fps(text.substr(rate + 1), kWhat));
  }
  return {};
}

}  // namespace ridgeline::stream
