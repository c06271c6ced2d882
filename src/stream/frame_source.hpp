// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/message.hpp"
#include "stream/image.hpp"

namespace ridgeline::stream {

/// What is known of a source before its first frame.
struct SourceInfo {
  std::string name;  ///< what the user gave
  int width = 0;     ///< pixels
  int height = 0;
  double fps = 0;            ///< as the container says; 0: not known
  std::int64_t frames = -1;  ///< as the container says; -1: not known
  /// Frames come whether or not anybody takes them (camera, RTSP): a queue that is full then drops. Other sources wait.
  bool is_live = false;
  std::string decoder;                   ///< for people: "h264"; "" where nothing is decoded
  bool is_interlaced = false;            ///< its first frame is, with a note
  bool has_labels = false;               ///< label() says something of every frame
  std::vector<schema::Message> notes{};  ///< what a user should know beforehand
};

/// What is told of a frame beside its picture.
struct FrameLabel {
  std::string file;    ///< that it came from, in a source of several
  std::string damage;  ///< why there is no picture of it; ""
};

/// Pictures one after another; one thread at a time, but for interrupt.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  [[nodiscard]] virtual const SourceInfo& info() const noexcept = 0;
  /// Waits for the next picture, fills `image` and returns its time in the video in nanoseconds; nullopt at the end.
  /// Errors end the source and name it: io (it cannot be read any more), corrupt (nothing more can be decoded),
  /// cancelled (interrupt). A damaged frame in the middle is skipped and counted in notes(); one that has a file of its
  /// own is given, with its damage in label() and nothing in `image` that counts.
  [[nodiscard]] virtual base::Result<std::optional<std::int64_t>> next(Image& image) = 0;
  /// Of the frame that next() gave last.
  [[nodiscard]] virtual FrameLabel label() const { return {}; }
  /// From now on pictures that a device has decoded may stay there (ImageBytes::place), as NV12.
  virtual void leave_on_device() {}
  /// From any thread: a next() under way returns soon, and all later ones at once.
  virtual void interrupt() noexcept = 0;
  /// What a user should know beside the pictures: damaged frames, reconnections. May grow.
  [[nodiscard]] virtual std::vector<schema::Message> notes() const { return {}; }
};

}  // namespace ridgeline::stream
