// SPDX-License-Identifier: Apache-2.0
#include "schema/gpu_ceilings.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(GpuCeilings, copy_gb_per_s, h2d_gb_per_s, d2h_gb_per_s, h2d_pageable_gb_per_s, d2h_pageable_gb_per_s,
               matmul_fp32_tflops, matmul_tf32_tflops, matmul_fp16_tflops, launch_us)

}  // namespace ridgeline::schema
