// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/stream_run.hpp"

namespace ridgeline::campaign {

/// Whether a load was held: p99 within the SLO, no more drops than allowed, no failed inference. Latencies count from
/// when frames were due, so a load that was late holds its limits in spite of that, or it misses them and `is_void` of
/// the status is set, unless it would have missed them anyway: frames that come later by at most L leave later by at
/// most L, and a late frame takes the place of one other at most.
[[nodiscard]] schema::StreamVerdict judge_stream(schema::StreamStatus& status, const schema::StreamRequest& request);

/// Of several rates: gives the run the numbers of the highest one that was held with all below it, or else the lowest,
/// and the verdict, which passes when it is the highest that was asked for. A void rate counts neither way.
void choose_point(schema::StreamRun& run);

}  // namespace ridgeline::campaign
