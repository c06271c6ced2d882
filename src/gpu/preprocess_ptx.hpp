// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace ridgeline::gpu {

/// The kernel "ridgeline_preprocess" (preprocess_kernel.cu) as PTX, for GPUs of compute capability 7.0 and later and
/// drivers for CUDA 12.0 and later; "" in a build without NVRTC.
[[nodiscard]] const char* preprocess_ptx() noexcept;

}  // namespace ridgeline::gpu
