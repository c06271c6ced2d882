// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "trace/kernel_counters.hpp"

namespace ridgeline::trace {

/// What `ncu --csv` printed, in its long form (a row a metric) or its wide one (`--page raw`), whatever the program and
/// ncu itself printed between. Errors: io; unsupported, with the way to record one that helps.
[[nodiscard]] base::Result<KernelCounters> import_ncu(const std::string& path);

}  // namespace ridgeline::trace
