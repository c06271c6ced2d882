// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stream/frame_source.hpp"
#include "stream/result_sink.hpp"

namespace ridgeline::execute {

/// A frame's line in the output, without its end:
///   {"source":0,"frame":12,"pts_ms":480.0,"latency_ms":31.2,"result":{...}}
///   {"source":0,"frame":13,"pts_ms":520.0,"latency_ms":60.1,"dropped":"deadline"}
/// With "file" behind "frame" where the label names one.
[[nodiscard]] std::string frame_line(const stream::FrameOutput& output, const stream::FrameLabel& label = {});

/// Of a frame that was in the pipeline when its process ended.
[[nodiscard]] std::string lost_frame_line(std::uint32_t source, std::uint64_t sequence, stream::DropReason reason);

/// The source of a line that frame_line made.
[[nodiscard]] std::uint32_t source_of_line(std::string_view line);

/// Why that frame has no result; "": it has one.
[[nodiscard]] std::string_view drop_reason_of_line(std::string_view line);

/// The latency in milliseconds that it tells of a frame with a result; nullopt: it has none.
[[nodiscard]] std::optional<double> latency_of_line(std::string_view line);

}  // namespace ridgeline::execute
