// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "report/report_model.hpp"

namespace ridgeline::report {

[[nodiscard]] std::string render_markdown(const ReportModel& report);

/// ReportModel::asked and ReportModel::answer in full.
[[nodiscard]] std::string render_markdown_answer(const ReportModel& report);

/// Five lines of Markdown at most, to paste into a message: what was asked, the answer, what changes, where, and the
/// run.
[[nodiscard]] std::string render_summary(const ReportModel& report);

/// One self-contained file: no external link; `echarts_js` is inlined.
[[nodiscard]] std::string render_html(const ReportModel& report, std::string_view echarts_js);

/// The answer as one self-contained picture, 860 pixels wide: what was asked, the verdict with its bars, what changes,
/// where. Of a report without an answer there is only what was asked.
[[nodiscard]] std::string render_svg(const ReportModel& report);

/// For a terminal: aligned columns, optional ANSI colours, at most `width` columns (cells are shortened with an
/// ellipsis).
[[nodiscard]] std::string render_table(const Table& table, int width, bool colour);

}  // namespace ridgeline::report
