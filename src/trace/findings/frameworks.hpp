// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// What ran the program, by what the trace shows of it; none: it does not tell.
struct Frameworks {
  bool torch = false;
  bool onnx = false;  ///< ONNX Runtime
};

[[nodiscard]] Frameworks frameworks_of(const Trace& trace);

}  // namespace ridgeline::trace
