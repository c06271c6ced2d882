// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// A snapshot of PyTorch's CUDA allocator (torch.cuda.memory._dump_snapshot), whose events become Trace::allocations;
/// there is nothing else in it. Sizes are what the program asked for, without the allocator's rounding; totals follow
/// from the state at the end, so that they hold also where the history begins late. Nothing in the file is run. Errors:
/// io; corrupt; unsupported, with the way to record one that helps, for another pickle and where nothing was recorded.
[[nodiscard]] base::Result<Trace> import_snapshot(const std::string& path);

}  // namespace ridgeline::trace
