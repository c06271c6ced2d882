// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// What `nsys export --type sqlite` made of a recording of Nsight Systems, of any version: columns are found by their
/// names, and any table or column may be missing. Errors: not_found, io, corrupt; unsupported, with the way to record
/// one that helps, where the file is no such database or has no kernels.
[[nodiscard]] base::Result<Trace> import_nsys(const std::string& path);

}  // namespace ridgeline::trace
