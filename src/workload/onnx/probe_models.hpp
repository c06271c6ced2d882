// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace ridgeline::workload {

/// The bytes of a model that is one product of two square FP32 matrices: 2 * size^3 operations. Inputs "a" and "b" size
/// x size, output "y".
[[nodiscard]] std::string product_model(std::int64_t size);

}  // namespace ridgeline::workload
