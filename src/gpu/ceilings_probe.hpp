// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/cublas.hpp"
#include "gpu/cuda_driver.hpp"
#include "schema/gpu_ceilings.hpp"

namespace ridgeline::gpu {

/// Measures what the first visible GPU reaches: copies of up to 1 GiB and products of square matrices of pseudo-random
/// numbers (zeros draw less power and flatter the card), each the best of a few repetitions after a warm-up. Takes
/// about half a second and at most a quarter of the free memory, all of it given back. A probe that cannot be made is
/// left out: no cuBLAS, too little memory. Errors: unavailable (no driver, no GPU); out_of_memory (not even for
/// copies).
[[nodiscard]] base::Result<schema::GpuCeilings> probe_ceilings(
    const std::shared_ptr<const CudaDriver>& driver,
    const std::vector<std::string>& cublas_candidates = Cublas::default_candidates());

}  // namespace ridgeline::gpu
