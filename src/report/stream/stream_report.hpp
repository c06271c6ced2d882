// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/stream_run.hpp"

namespace ridgeline::report {

[[nodiscard]] ReportModel build_stream_report(const schema::MessageRenderer& words, const schema::StreamRun& run);

/// For machines.
[[nodiscard]] base::Json stream_json(const schema::MessageRenderer& words, const schema::StreamRun& run);

/// What came of it, label and text, for a terminal.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> stream_summary(const schema::MessageRenderer& words,
                                                                              const schema::StreamRun& run);

/// End to end and by stage.
[[nodiscard]] Table stream_latency_table(const schema::MessageRenderer& words, const schema::StreamStatus& status);

/// What came of each of several rates; empty of one.
[[nodiscard]] Table stream_load_table(const schema::StreamRun& run);

/// Where the workers' time went.
[[nodiscard]] Table stream_time_table(const schema::MessageRenderer& words, const schema::StreamRun& run);

/// Of all workers, what they did in what seconds, in the order of the pipeline.
[[nodiscard]] std::vector<std::pair<std::string, double>> stream_times(const schema::MessageRenderer& words,
                                                                       const schema::StreamRun& run);

/// "poisson at 50 frames per second per source, seed 1".
[[nodiscard]] schema::Message offered_load(const schema::StreamLoad& load);

/// What a bench says, in a few words.
[[nodiscard]] schema::Message verdict_title(const schema::StreamRun& run);

/// "12 deadline, 3 queue_full", or "none".
[[nodiscard]] std::string drops_text(const schema::StreamStatus& status);

}  // namespace ridgeline::report
