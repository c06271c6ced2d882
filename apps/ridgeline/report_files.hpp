// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "report/report_model.hpp"
#include "ridgeline/report_flags.hpp"

namespace ridgeline::app {

/// Writes each of the files.
[[nodiscard]] base::Result<void> write_reports(const report::ReportModel& model, const std::vector<ReportFile>& files);

}  // namespace ridgeline::app
