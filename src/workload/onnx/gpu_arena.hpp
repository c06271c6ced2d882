// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "workload/onnx/ort_library.hpp"

struct OrtSession;

namespace ridgeline::workload {

/// What a session holds of the first GPU's memory through the runtime's own arena: not cuDNN's and cuBLAS's workspaces,
/// the CUDA context or captured graphs.
struct ArenaUse {
  std::int64_t bytes = 0;
  std::int64_t peak_bytes = 0;
};

/// Zeros where the runtime does not tell (before ONNX Runtime 1.23, or an arena that keeps no account).
[[nodiscard]] ArenaUse gpu_arena_use(const OrtLibrary& library, const OrtSession* session);

}  // namespace ridgeline::workload
