// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "stream/frame_source.hpp"

namespace ridgeline::stream {

/// Takes what is told of frames past the pipeline, from who offers them to who writes their results. Of each source
/// every frame leaves once and in order, so that the oldest label is that of the next result. Thread-safe.
class FrameLabels {
 public:
  /// Before the frame is offered, as its result may come before offering returns.
  void push(std::uint32_t source, FrameLabel label);
  /// The frame that was pushed last has not been taken.
  void take_back(std::uint32_t source);
  /// The source's frames are these over and over; nothing is pushed.
  void repeat(std::uint32_t source, std::vector<FrameLabel> labels);
  /// Of the next frame that leaves; of a source without labels an empty one.
  [[nodiscard]] FrameLabel take(std::uint32_t source, std::uint64_t sequence);

 private:
  std::mutex mutex_;
  std::map<std::uint32_t, std::deque<FrameLabel>> waiting_;
  std::map<std::uint32_t, std::vector<FrameLabel>> repeated_;
};

}  // namespace ridgeline::stream
