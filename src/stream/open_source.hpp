// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/error.hpp"
#include "stream/frame_source.hpp"
#include "stream/source_options.hpp"

namespace ridgeline::stream {

/// Opens what the user named; a video's first frame is decoded by then. Blocks for a pipe until that has come, for a
/// network source at most SourceOptions::network_timeout.
///
///   SourceOptions options{.source = "video.mp4"};
///   RL_TRY_ASSIGN(auto source, open_source(options));
///   for (Image image;;) { RL_TRY_ASSIGN(auto pts, source->next(image)); if (!pts) break; ... }
///
/// Errors, one line that begins with the source: not_found (no such file, no plug-in), invalid_argument (no video
/// stream, options that do not fit), corrupt (nothing in it can be decoded), unavailable (FFmpeg is not installed),
/// unsupported, io, timeout.
[[nodiscard]] base::Result<std::unique_ptr<FrameSource>> open_source(const SourceOptions& options);

/// The source's name for people and records: without the password that an address may have.
[[nodiscard]] std::string source_name(const std::string& source);

}  // namespace ridgeline::stream
