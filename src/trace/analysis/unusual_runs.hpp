// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/message.hpp"
#include "trace/analysis/steps.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Of each of Steps::steps whether it is a run of a model, on the host alone, that took more than twice as long as the
/// median run for no more work: by the number of its nodes, their bytes and their FLOPs. Another program had the
/// processor, or it was a first run. A few such runs would be most of a mean, so tables and findings leave them out
/// whole, and what is left adds up.
[[nodiscard]] std::vector<bool> find_unusual_runs(const Trace& trace, const Steps& steps,
                                                  const std::vector<Place>& step_of_node);

/// For people: how many those are; empty without any.
[[nodiscard]] schema::Message unusual_runs_note(const Steps& steps, const std::vector<bool>& unusual);

}  // namespace ridgeline::trace
