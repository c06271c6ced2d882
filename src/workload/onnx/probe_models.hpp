// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace ridgeline::workload {

/// The shape of the tensors of simple_model.
inline constexpr std::array<std::int64_t, 4> kSimpleDims{1, 64, 32, 32};

/// The bytes of a model of `nodes` additions in a row: what a profiler takes for a node. They are as large as those of
/// a small network (256 KiB), so that the runtime's threads take part and the profiler's code and data are as cold as
/// they are there. Input "x" and output "y" of kSimpleDims.
[[nodiscard]] std::string simple_model(std::int64_t nodes);

/// The bytes of a model that is one product of two square FP32 matrices: 2 * size^3 operations. Inputs "a" and "b" size
/// x size, output "y".
[[nodiscard]] std::string product_model(std::int64_t size);

}  // namespace ridgeline::workload
