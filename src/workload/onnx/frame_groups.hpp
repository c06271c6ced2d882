// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "stream/batch_preprocessor.hpp"
#include "stream/batch_runner.hpp"
#include "stream/preprocessor.hpp"
#include "workload/onnx/image_input.hpp"

namespace ridgeline::workload {

/// Frames of one input size, by their place in the batch.
struct FrameGroup {
  stream::FrameGeometry geometry;  ///< of the first one
  std::int64_t rows = 0;           ///< of the tensors, with those that pad the batch
  std::vector<std::size_t> places;
};

/// A batch, taken apart by the size of the input that its frames need.
struct GroupedFrames {
  std::vector<FrameGroup> groups;
  std::vector<stream::FrameGeometry> geometries;  ///< of each frame

  /// The frames of a group with their geometries, into `out`.
  void plan(const FrameGroup& group, std::span<const stream::BatchFrame> frames,
            std::vector<stream::PlannedFrame>& out) const;
};

/// Errors: as Preprocessor::plan.
[[nodiscard]] base::Result<void> group_frames(std::span<const stream::BatchFrame> frames, std::uint32_t executed_size,
                                              const stream::Preprocessor& preprocessor, const ImageInput& input,
                                              GroupedFrames& out);

/// `orig_target_sizes` for a group: its input's own size, in whose pixels decoders expect boxes. In host memory.
[[nodiscard]] base::Result<OrtValueHandle> make_size_tensor(const OrtApi& api, const SizeInput& input,
                                                            const FrameGroup& group);

}  // namespace ridgeline::workload
