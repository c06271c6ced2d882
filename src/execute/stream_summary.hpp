// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/stream_status.hpp"
#include "stream/pipeline_status.hpp"

namespace ridgeline::execute {

/// A pipeline's numbers as they are told and kept.
[[nodiscard]] schema::StreamStatus summarize(const stream::PipelineStatus& status, double elapsed_s);

}  // namespace ridgeline::execute
