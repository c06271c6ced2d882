// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/profile.hpp"
#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// What a trace tells, without its events.
[[nodiscard]] schema::ProfileTables tables_of(const AnalysedTrace& analysed);

}  // namespace ridgeline::trace
