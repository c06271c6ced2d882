// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/report_model.hpp"
#include "ridgeline/terminal.hpp"

namespace ridgeline::app {

/// A report section for a terminal: tables aligned, callouts coloured, charts as their one-sentence alternative.
[[nodiscard]] std::string section_text(const report::Section& section, const Terminal& terminal);

/// What a run was asked, and its answer.
[[nodiscard]] std::string answer_text(const report::ReportModel& report, const Terminal& terminal);

/// The answer of a run that is followed by the change to a file, so that both fit a screen: the change shows the
/// values, and is written there. In full where no terminal is to be filled.
[[nodiscard]] report::ReportModel before_change(report::ReportModel report, const std::string& run,
                                                const Terminal& terminal);

/// An empty line and the answer, on standard output.
void print_answer(const report::ReportModel& report, const Terminal& terminal);

}  // namespace ridgeline::app
