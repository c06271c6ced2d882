// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "campaign/tune/tune_campaign.hpp"
#include "report/report_model.hpp"

namespace ridgeline::app {

/// Writes the Markdown report and, with `html` set, the HTML one. Either path may be "" for none.
[[nodiscard]] base::Result<void> write_reports(const campaign::TuneResult& result, const std::string& markdown,
                                               const std::string& html);

/// The same of a report that is built already.
[[nodiscard]] base::Result<void> write_reports(const report::ReportModel& model, const std::string& markdown,
                                               const std::string& html);

/// "report.md" -> "report.html".
[[nodiscard]] std::string html_beside(const std::string& markdown);

/// Checked before anything is measured: the file's folder exists and is writable, the path is not a folder.
[[nodiscard]] base::Result<void> check_writable(const std::string& path, std::string_view flag);

}  // namespace ridgeline::app
