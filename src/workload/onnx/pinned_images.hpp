// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "stream/image_bytes.hpp"
#include "workload/onnx/gpu_side.hpp"

namespace ridgeline::workload {

/// Page-locked memory, which the GPU reads while the CPU does something else.
[[nodiscard]] std::shared_ptr<stream::ImageMemory> make_pinned_images(std::shared_ptr<const GpuSide> gpu);

}  // namespace ridgeline::workload
