// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

/// ReportModel::asked and ReportModel::answer of a profile per run of its model (per_run()): how busy the GPUs are,
/// what to do in the order of what it saves, and at most five rows of where the time went.
[[nodiscard]] std::string profile_asked(const schema::MessageRenderer& words, const schema::ProfileRun& run);
[[nodiscard]] Section profile_answer_section(const schema::MessageRenderer& words, const schema::ProfileRun& run);

}  // namespace ridgeline::report
