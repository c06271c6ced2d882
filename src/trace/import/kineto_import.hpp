// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// A trace of the PyTorch profiler (Kineto's Chrome JSON, plain or gzip), of NVIDIA's GPUs, of AMD's or of none. A file
/// that was cut off gives what lies before the cut; notes say so, and what was left out. Errors: io; corrupt;
/// unsupported, with the way to record one that helps, where the file is no trace, or has nothing that ran.
[[nodiscard]] base::Result<Trace> import_kineto(const std::string& path);

}  // namespace ridgeline::trace
