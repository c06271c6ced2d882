// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/summary.hpp"
#include "schema/measurement.hpp"
#include "schema/message.hpp"
#include "schema/objective.hpp"

namespace ridgeline::analysis {

/// Why a measurement does not satisfy a constraint, "latency_p99_ms 23.1 > 20", or nullopt when it does.
[[nodiscard]] std::optional<schema::Message> broken_constraint(const schema::Constraint& constraint,
                                                               const schema::Measurement& measurement,
                                                               const Summary& summary);

/// How many samples a trial should have so that a constraint on a percentile can be met; 0 for other metrics. p90 and
/// p95: so many that the percentile itself is compared with the bound, and nothing stays undecided however many are
/// slow. p99: so many that the binomial bound is met where none is beyond.
[[nodiscard]] std::int64_t samples_wanted(const schema::Constraint& constraint) noexcept;

}  // namespace ridgeline::analysis
