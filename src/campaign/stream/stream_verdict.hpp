// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/stream_run.hpp"

namespace ridgeline::campaign {

/// Whether a load was borne: p99 within the SLO, no more drops than allowed, no failed inference, and a load that was
/// what it should be.
[[nodiscard]] schema::StreamVerdict judge_stream(const schema::StreamStatus& status,
                                                 const schema::StreamRequest& request);

/// Of several rates: gives the run the numbers of the highest one below which none was not borne, or else the lowest,
/// and the verdict, which passes when it is the highest that was asked for. A void rate counts neither way.
void choose_point(schema::StreamRun& run);

/// Whether a load that did not pass was never what it should be, so that nothing is known of the pipeline.
[[nodiscard]] bool is_void(const schema::StreamRun& run);

}  // namespace ridgeline::campaign
