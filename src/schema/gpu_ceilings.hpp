// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/json.hpp"

namespace ridgeline::schema {

/// What one GPU reaches at best, measured on that card by short probes. What was not probed is nullopt. GB = 1e9 bytes.
struct GpuCeilings {
  std::optional<double> copy_gb_per_s;          ///< device memory, a copy on the card: bytes read plus bytes written
  std::optional<double> h2d_gb_per_s;           ///< host to device from pinned memory
  std::optional<double> d2h_gb_per_s;           ///< device to host into pinned memory
  std::optional<double> h2d_pageable_gb_per_s;  ///< host to device from ordinary memory, as a plain Run copies
  std::optional<double> d2h_pageable_gb_per_s;
  std::optional<double> matmul_fp32_tflops;  ///< large matrix product, multiply and add counted as two, TF32 off
  std::optional<double> matmul_tf32_tflops;
  std::optional<double> matmul_fp16_tflops;
  std::optional<double> launch_us;  ///< a launch of an empty kernel in a row of many
};
RL_DECLARE_JSON(GpuCeilings)

}  // namespace ridgeline::schema
