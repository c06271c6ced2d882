// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/preprocess_kernel.hpp"

namespace ridgeline::workload {

/// For fake_cuda_run: the kernel of preprocess_kernel.cu on the CPU.
inline void run_preprocess_kernel(const void* argument, unsigned, unsigned, unsigned frames) {
  const auto& job = *static_cast<const gpu::kernel::Job*>(argument);
  for (int number = 0; number < static_cast<int>(frames); ++number)
    for (int y = 0; y < job.input.height; ++y)
      for (int x = 0; x < job.input.width; ++x) gpu::kernel::write_pixel(job.input, job.frames[number], number, x, y);
}

/// What the driver of the tests takes for it.
inline constexpr const char* kFakePreprocessPtx = ".visible .entry ridgeline_preprocess() { ret; }";

}  // namespace ridgeline::workload
