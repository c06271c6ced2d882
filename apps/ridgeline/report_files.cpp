// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/report_files.hpp"

#include "base/file.hpp"
#include "report/renderers.hpp"
#include "ridgeline/embedded.hpp"

namespace ridgeline::app {

base::Result<void> write_reports(const report::ReportModel& model, const std::vector<ReportFile>& files) {
  for (const auto& file : files) {
    const auto text =
        file.format == ReportFormat::html ? report::render_html(model, echarts_js()) : report::render_markdown(model);
    if (auto written = base::write_file_atomically(file.path, text); !written) {
      // The run is in the results file by now: another place can still have its report.
      written.error().hint = "write it elsewhere: ridgeline report latest --report FILE.md";
      return written;
    }
  }
  return {};
}

}  // namespace ridgeline::app
