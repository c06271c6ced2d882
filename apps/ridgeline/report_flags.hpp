// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

enum class ReportFormat { markdown, html };

/// A report to write, and the option that asked for it.
struct ReportFile {
  std::string path;
  ReportFormat format = ReportFormat::markdown;
  std::string option;
};

/// Where a command writes its report.
struct ReportFlags {
  std::vector<std::string> reports;  ///< --report: each file's ending names its format
  std::string markdown;              ///< --output: Markdown, whatever the ending
  std::string html;  ///< --report-html, a former name: HTML, whatever the ending; "auto": next to the Markdown report

  /// All of them, once check_report_flags() has accepted them.
  [[nodiscard]] std::vector<ReportFile> files() const;
};

/// Whether one of them is a page.
[[nodiscard]] bool has_page(const std::vector<ReportFile>& files);

/// Adds --report.
void add_report_option(CLI::App& command, ReportFlags& flags);
/// Adds --report, --output and, hidden, --report-html.
void add_report_flags(CLI::App& command, ReportFlags& flags);

/// Checked before anything is measured. Errors: an ending that names no format, an HTML report without a name, files
/// that cannot be written, one file for two reports.
[[nodiscard]] base::Result<void> check_report_flags(const ReportFlags& flags);

}  // namespace ridgeline::app
