// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/stream_run.hpp"

namespace ridgeline::report {

/// ReportModel::asked and ReportModel::answer: whether the load was carried within the limits, the rate and the
/// latency, what the workers spent their time on, and at most five rows of rates or of stages that took time.
[[nodiscard]] std::string stream_asked(const schema::MessageRenderer& words, const schema::StreamRun& run);
[[nodiscard]] Section stream_answer_section(const schema::MessageRenderer& words, const schema::StreamRun& run);

}  // namespace ridgeline::report
