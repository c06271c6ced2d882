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

/// An empty line and the answer, on standard output.
void print_answer(const report::ReportModel& report, const Terminal& terminal);

}  // namespace ridgeline::app
