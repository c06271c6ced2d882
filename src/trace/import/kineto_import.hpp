// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// A trace of the PyTorch profiler (Kineto's Chrome JSON, plain or gzip). A file that was cut off gives what lies
/// before the cut, with a note. Errors: io; corrupt; unsupported, with the way to record one that helps, where the file
/// is no trace, has no kernels or is of an AMD GPU.
[[nodiscard]] base::Result<Trace> import_kineto(const std::string& path);

}  // namespace ridgeline::trace
