// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// What a p99 comparison's ratio is of: "the 99th percentile", "the 95th percentile", "the median", or "the tail" where
/// the record does not tell (Comparison::tail 0).
[[nodiscard]] std::string tail_text(const schema::Comparison& comparison);

/// For a ratio of a lower percentile than the 99th that was asked for, "p95", "p90" or "median"; else "".
[[nodiscard]] std::string tail_mark(const schema::Comparison& comparison);

/// To follow an interval: ", of p95: too few samples for p99", or "".
[[nodiscard]] std::string tail_note(const schema::Comparison& comparison);

}  // namespace ridgeline::analysis
