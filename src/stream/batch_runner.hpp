// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "stream/image.hpp"

namespace ridgeline::stream {

/// What the parts of one batch took, in nanoseconds.
struct BatchTimes {
  std::int64_t preprocess_ns = 0;
  std::int64_t inference_ns = 0;
  std::int64_t postprocess_ns = 0;
  std::int64_t copy_ns = 0;  ///< to and from a device; 0: part of the inference, or there are none
};

/// A model with what comes before and behind it. Worker i is called from one thread only, its own.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;
  /// On the worker's thread, before anything else is called there.
  [[nodiscard]] virtual base::Result<void> enter(std::uint32_t /*worker*/) { return {}; }
  /// Runs the pictures as one batch, padded to `executed_size`; writes one JSON value a picture to `results`, which has
  /// their number of places. Errors concern the whole batch; the worker can go on.
  [[nodiscard]] virtual base::Result<BatchTimes> run(std::uint32_t worker, std::span<const Image* const> images,
                                                     std::uint32_t executed_size, std::span<std::string> results) = 0;
};

}  // namespace ridgeline::stream
