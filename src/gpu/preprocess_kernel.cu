// SPDX-License-Identifier: Apache-2.0
// One thread for each pixel of the input; the third dimension of the grid is the frame.
#include "gpu/preprocess_kernel.hpp"

extern "C" __global__ void ridgeline_preprocess(const __grid_constant__ ridgeline::gpu::kernel::Job job) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int number = static_cast<int>(blockIdx.z);
  if (x >= job.input.width || y >= job.input.height) return;
  ridgeline::gpu::kernel::write_pixel(job.input, job.frames[number], number, x, y);
}
