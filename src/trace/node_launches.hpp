// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Whether a node's time is that of launching work which a GPU does later, as its provider's nodes return before it is
/// done; so is that of a provider which is not known. No rates follow from such a time.
[[nodiscard]] bool is_launch(const Trace& trace, std::size_t node);

/// For people: what the times of such nodes are; "": there are none.
[[nodiscard]] std::string launch_note(const Trace& trace);

}  // namespace ridgeline::trace
