// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schema/stream_spec.hpp"
#include "stream/frame_source.hpp"
#include "stream/source_feed.hpp"

namespace ridgeline::execute {

/// A source of a pipeline.
struct OpenedSource {
  std::unique_ptr<stream::FrameSource> source;
  stream::Pace pace = stream::Pace::fastest;
  /// What was read of it: damaged frames, and then one that is whole.
  std::vector<stream::TakenFrame> first{};

  /// Frames of a size that is known come when somebody sends them: the model is loaded before it waits for the first.
  [[nodiscard]] bool waits_for_first() const noexcept { return first.empty(); }
  [[nodiscard]] int width() const;
  [[nodiscard]] int height() const;
  /// The first whole picture.
  [[nodiscard]] const stream::Image& picture() const { return *first.back().image; }
};

/// Opens one, without its first frame. `on_note`, `device_images`: as SourceOptions has them. Errors: open_source's.
[[nodiscard]] base::Result<OpenedSource> open_stream_source(const schema::StreamSpec& spec,
                                                            const schema::StreamSource& wanted,
                                                            std::function<void(const schema::Message&)> on_note,
                                                            std::shared_ptr<stream::DeviceImages> device_images);

/// Reads up to the first frame that is whole. Errors: FrameSource::next's; corrupt (there is none).
[[nodiscard]] base::Result<void> take_first(OpenedSource& opened, stream::ImagePool& pool);

/// What a bench repeats of a source: its first frames, up to `most_bytes` of them, with where they come from. Damaged
/// ones are left out.
struct LoadClip {
  std::vector<std::shared_ptr<const stream::Image>> pictures{};
  std::vector<stream::FrameLabel> labels{};  ///< empty where the source has none
};
[[nodiscard]] base::Result<LoadClip> decode_clip(OpenedSource& opened, std::size_t most_bytes,
                                                 const std::shared_ptr<stream::ImageMemory>& memory);

}  // namespace ridgeline::execute
