// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "stream/frame_source.hpp"
#include "stream/image_pool.hpp"
#include "stream/pipeline.hpp"

namespace ridgeline::stream {

/// When a source's frames come.
enum class Pace {
  fastest,   ///< as fast as the pipeline takes them; nothing is dropped for want of room
  realtime,  ///< at the times that the video tells, from the first frame on
  live,      ///< when the source has them
};

struct FeedOptions {
  std::uint32_t source = 0;
  Pace pace = Pace::fastest;
  std::int64_t most_frames = 0;  ///< 0: all
  const base::Clock* clock = &base::system_clock();
};

/// Passes a source's pictures on until it ends, or the pipeline does; closes it there. The error that ended the source,
/// if one did: the pipeline goes on without it. Blocks; run it on a thread of its own. `first`: a picture that was
/// taken before, with its time.
[[nodiscard]] base::Result<std::uint64_t> feed(FrameSource& source, Pipeline& pipeline, ImagePool& pool,
                                               const FeedOptions& options,
                                               std::optional<std::pair<std::shared_ptr<Image>, std::int64_t>> first);

}  // namespace ridgeline::stream
