// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/error.hpp"
#include "gpu/cuda_driver.hpp"

namespace ridgeline::gpu {

/// Brings the calling thread's context into the state of a process that works on several streams, which lasts as long
/// as the context: on an H200 all kernels of a process then begin about 0.4 us later than while it works on one stream
/// alone (benchmarks/results/h200/one_stream.md). A process gets there by itself with the eighth kernel beside its main
/// stream, mostly in its second session, and what was timed before could not be compared with what comes after. Errors:
/// internal (the driver compiles no PTX, or a launch failed).
[[nodiscard]] base::Result<void> enter_multistream_state(const std::shared_ptr<const CudaDriver>& driver);

}  // namespace ridgeline::gpu
