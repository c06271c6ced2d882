// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "stream/frame_labels.hpp"
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
  std::int64_t most_frames = 0;   ///< 0: all
  FrameLabels* labels = nullptr;  ///< gets those of a source that has them; null: they are lost
  const base::Clock* clock = &base::system_clock();
};

/// A frame of a source, in memory of its own.
struct TakenFrame {
  std::shared_ptr<Image> image;  ///< null: it is damaged
  std::int64_t pts_ns = 0;
  FrameLabel label{};
};

/// The source's next frame; nullopt: its end. Errors: FrameSource::next's.
[[nodiscard]] base::Result<std::optional<TakenFrame>> take_frame(FrameSource& source, ImagePool& pool);

/// Passes a source's pictures on until it ends, or the pipeline does; closes it there. The error that ended the source,
/// if one did: the pipeline goes on without it. Blocks; run it on a thread of its own. `first`: frames that were taken
/// before.
[[nodiscard]] base::Result<std::uint64_t> feed(FrameSource& source, Pipeline& pipeline, ImagePool& pool,
                                               const FeedOptions& options, std::vector<TakenFrame> first);

}  // namespace ridgeline::stream
