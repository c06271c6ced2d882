// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Of a trace of the host alone with several processes, such as those of ranks: keeps the one whose ranges take most
/// time, and says so in a note. They ran beside each other, so that times of all together are no time that passed.
void keep_one_process_of_host(Trace& trace);

}  // namespace ridgeline::trace
