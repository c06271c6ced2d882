// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/training_run.hpp"

namespace ridgeline::report {

/// Markdown or HTML by the renderers: the answers, what holds training back, the table, the Pareto front, the method.
[[nodiscard]] ReportModel build_bench_report(const schema::MessageRenderer& words, const schema::BenchRun& run);

/// Raised when a field is renamed, removed or changes its meaning; runs without a number are version 1.
inline constexpr int kBenchJsonVersion = 3;

/// schema::BenchRun as JSON, its messages with their words, and beside it "points": what the trials of each setting
/// give together, and "formulas": how points and answers follow from "trials". tests/cli/derive_bench_answers.py does
/// it.
[[nodiscard]] base::Json bench_json(const schema::MessageRenderer& words, const schema::BenchRun& run);

/// The answers, findings and the identity for a terminal: a label ("" belongs to the one before) and a text of any
/// length.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> bench_summary(const schema::MessageRenderer& words,
                                                                             const schema::BenchRun& run);

/// "phases add up to the wall time within 0.4 % (worst of 34 trials)"; empty without a measured trial.
[[nodiscard]] schema::Message identity_of(const schema::BenchRun& run);

}  // namespace ridgeline::report
