// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "stream/image_bytes.hpp"

namespace ridgeline::stream {

/// A picture in NV12 that a decoder has left in a device's memory, until its next one. Both sides are even.
struct DeviceFrame {
  int width = 0;
  int height = 0;
  std::uint64_t luma = 0;  ///< address of the first row
  std::uint64_t chroma = 0;
  std::int64_t luma_stride = 0;  ///< bytes from row to row
  std::int64_t chroma_stride = 0;
};

/// Memory of a device for the pictures that are decoded on it. Thread-safe.
class DeviceImages {
 public:
  virtual ~DeviceImages() = default;
  /// What decoders of the device work in: for CUDA the CUcontext, whose default stream their frames are ready on.
  [[nodiscard]] virtual void* context() const noexcept = 0;
  /// A copy without padding, there when this returns: decoders have few pictures. Errors: out_of_memory, the device's.
  [[nodiscard]] virtual base::Result<ImageBytes> copy(const DeviceFrame& frame) = 0;
};

}  // namespace ridgeline::stream
