// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gpu/cuda_driver.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::workload {

/// Where the tensors of a session are between inferences: the values of the parameter io_binding.
enum class IoBinding {
  none,    ///< pageable host memory, handed to each run
  pinned,  ///< page-locked host memory
  device,  ///< GPU memory, bound; we copy before and after each run where the scenario starts in host memory
  stream,  ///< as device, but copies and kernels share a stream of ours: one synchronization an inference
};

/// The GPU that a workload works on: the first that CUDA_VISIBLE_DEVICES shows.
struct GpuSide {
  std::shared_ptr<const gpu::CudaDriver> driver;
  gpu::PrimaryContext context;

  /// Makes the context current for the calling thread. Errors: unavailable, when there is no driver or GPU.
  [[nodiscard]] static base::Result<std::unique_ptr<GpuSide>> open(const std::vector<std::string>& drivers = {
                                                                       "libcuda.so.1", "libcuda.so"});
};

/// What the configuration says, by the scenario of the trial: data that stays on the GPU is bound there when nothing is
/// said. Errors: invalid_argument when host memory is asked for in scenario "device".
[[nodiscard]] base::Result<IoBinding> io_binding_of(const schema::TrialSpec& spec);

}  // namespace ridgeline::workload
