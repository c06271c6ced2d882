// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/stream_run.hpp"

namespace ridgeline::report {

/// Frames, latency and queue over time; nullopt with fewer than two seconds.
[[nodiscard]] std::optional<Chart> stream_time_chart(const schema::MessageRenderer& words,
                                                     const schema::StreamRun& run);
/// The GPU over the same time; nullopt where it was not read.
[[nodiscard]] std::optional<Chart> stream_gpu_chart(const schema::MessageRenderer& words, const schema::StreamRun& run);
/// Latency and drops against load, of a run of several rates; else nullopt.
[[nodiscard]] std::optional<Chart> stream_load_chart(const schema::MessageRenderer& words,
                                                     const schema::StreamRun& run);

}  // namespace ridgeline::report
