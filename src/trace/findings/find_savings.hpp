// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/profile.hpp"
#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::trace {

/// What would make the program faster, each with its evidence and the time that it is predicted to save; the largest
/// first. Savings may overlap: each is that of its change alone. What saves less than 1 % is left out, but for
/// other work of the host that takes 3 % of the time or more.
[[nodiscard]] std::vector<schema::ProfileFinding> find_savings(const AnalysedTrace& analysed,
                                                               const schema::ProfileTables& tables);

}  // namespace ridgeline::trace
