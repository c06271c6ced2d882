// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "orientation.hpp"

namespace ridgeline::video_plugin {

/// The bytes of a picture's file, which is JPEG, PNG, WebP or TIFF, or anything else.
using PictureBytes = std::span<const std::uint8_t>;

/// What its EXIF data says, for containers whose decoder does not: FFmpeg 5 tells it of JPEG only, and of none before
/// it is decoded. `normal` where there is none, or no sense in it.
[[nodiscard]] Orientation exif_orientation(PictureBytes file) noexcept;

/// A JPEG or PNG whose end is missing. Decoders fill the rest with grey and call it a picture.
[[nodiscard]] bool ends_early(PictureBytes file) noexcept;

}  // namespace ridgeline::video_plugin
