// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "analysis/summary.hpp"
#include "schema/measurement.hpp"
#include "schema/objective.hpp"

namespace ridgeline::analysis {

/// Why a measurement does not satisfy a constraint, "latency_p99_ms 23.1 > 20", or nullopt when it does.
[[nodiscard]] std::optional<std::string> broken_constraint(const schema::Constraint& constraint,
                                                           const schema::Measurement& measurement,
                                                           const Summary& summary);

}  // namespace ridgeline::analysis
