// SPDX-License-Identifier: Apache-2.0
#include "launch_counters.hpp"

namespace ridgeline::inject {

const char* name_of(CounterState state) {
  switch (state) {
    case CounterState::none: return "none";
    case CounterState::counted: return "counted";
    case CounterState::no_steps: return "no_steps";
    case CounterState::no_privilege: return "no_privilege";
    case CounterState::busy: return "busy";
    case CounterState::unsupported: return "unsupported";
    case CounterState::concurrent: return "concurrent";
    case CounterState::collectives: return "collectives";
    case CounterState::too_many: return "too_many";
    case CounterState::failed: return "failed";
  }
  return "failed";
}

}  // namespace ridgeline::inject
