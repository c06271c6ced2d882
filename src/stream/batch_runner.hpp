// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "stream/image.hpp"
#include "stream/preprocess_options.hpp"

namespace ridgeline::stream {

/// What the parts of one batch took, in nanoseconds.
struct BatchTimes {
  std::int64_t preprocess_ns = 0;
  std::int64_t inference_ns = 0;
  std::int64_t postprocess_ns = 0;
  std::int64_t copy_ns = 0;   ///< to and from a device; 0: part of the inference, or there are none
  std::int64_t crops_ns = 0;  ///< a second model on what the first one found, with what comes before and behind it
  std::int64_t wait_ns = 0;   ///< for the device, which has other batches before it
};

/// A frame of a batch.
struct BatchFrame {
  const Image* image = nullptr;
  std::uint32_t source = 0;
  std::uint64_t sequence = 0;
  bool is_sample = false;           ///< to warm up with: its results go nowhere
  const CropPlace* crop = nullptr;  ///< set where the picture is a part of the frame: results are in the frame's pixels
};

/// A model with what comes before and behind it. Worker i is called by one thread at a time, not always the same.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;
  /// `left` is called by run, on its thread, when a worker's batch has left the session that the worker shares with
  /// others, so that the session can take another before that batch is decoded. Null: no longer. Not while run runs.
  virtual void on_left(std::function<void(std::uint32_t worker)> left) { (void)left; }
  /// Runs the frames as one batch, padded to `executed_size`; writes one JSON value a frame to `results`, which has
  /// their number of places. Errors concern the whole batch, and the worker can go on; but io ends the run: what is
  /// written beside the results cannot be.
  [[nodiscard]] virtual base::Result<BatchTimes> run(std::uint32_t worker, std::span<const BatchFrame> frames,
                                                     std::uint32_t executed_size, std::span<std::string> results) = 0;
};

}  // namespace ridgeline::stream
