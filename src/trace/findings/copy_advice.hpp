// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/findings/rules.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {

inline constexpr std::string_view kBinding =
    "# ONNX Runtime: binding = session.io_binding(); binding.bind_ortvalue_input(name, value_on_gpu)";
/// Copies of pageable memory, and what waits for them.
inline constexpr Advice kPinMemory{&messages::advice_pin_memory,
                                   "DataLoader(dataset, pin_memory=True)\n"
                                   "batch = batch.to(\"cuda\", non_blocking=True)",
                                   &messages::advice_bind_pinned, kBinding};

}  // namespace ridgeline::trace
