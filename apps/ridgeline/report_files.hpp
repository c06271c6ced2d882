// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "report/report_model.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// Adds --output and --report-html; without a file name `html` becomes "auto": beside the Markdown report.
void add_report_flags(CLI::App& command, std::string& output, std::string& html);

/// Checked before anything is measured. Errors: an HTML report without a name, files that cannot be written.
[[nodiscard]] base::Result<void> check_report_flags(const std::string& output, const std::string& html);

/// Writes the Markdown report and, with `html` set, the HTML one. Either path may be "" for none.
[[nodiscard]] base::Result<void> write_reports(const report::ReportModel& model, const std::string& markdown,
                                               const std::string& html);

/// "report.md" -> "report.html".
[[nodiscard]] std::string html_beside(const std::string& markdown);

}  // namespace ridgeline::app
