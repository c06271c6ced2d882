// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/training_run.hpp"

namespace ridgeline::report {

/// "batch 64, 4 workers, bf16, pinned: 4120 samples/s (4100–4140), 3.56 GB".
[[nodiscard]] schema::Message bench_answer_of(const schema::BenchRun& run, const schema::BenchAnswer& answer);

/// ReportModel::asked and ReportModel::answer: the recommended settings, what limits training, what to do next, and at
/// most five of the settings that were measured.
[[nodiscard]] std::string bench_asked(const schema::MessageRenderer& words, const schema::BenchRun& run);
[[nodiscard]] Section bench_answer_section(const schema::MessageRenderer& words, const schema::BenchRun& run);

}  // namespace ridgeline::report
