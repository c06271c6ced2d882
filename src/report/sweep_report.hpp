// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/sweep.hpp"

namespace ridgeline::report {

/// Markdown or HTML by the renderers: the answer, combinations, which parameter matters, trials, failures, the method.
[[nodiscard]] ReportModel build_sweep_report(const schema::MessageRenderer& words, const schema::SweepRun& run);

/// Raised when a field is renamed, removed or changes its meaning; runs without a number are version 1.
inline constexpr int kSweepJsonVersion = 3;

/// schema::SweepRun as JSON, its messages with their words, and beside it "formulas": how each answer follows from
/// "trials".
[[nodiscard]] base::Json sweep_json(const schema::MessageRenderer& words, const schema::SweepRun& run);

/// The answer for a terminal: a label ("" belongs to the one before) and a text of any length.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> sweep_summary(const schema::MessageRenderer& words,
                                                                             const schema::SweepRun& run);

}  // namespace ridgeline::report
