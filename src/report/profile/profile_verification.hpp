// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

/// What a finding's verification, which it has, found: first the predicted and the measured saving, or why there is no
/// measurement.
[[nodiscard]] std::vector<std::string> verification_lines(const schema::MessageRenderer& words,
                                                          const schema::ProfileFinding& finding);

/// The same as the answer of `profile --verify`; `finding`: its place in the run.
[[nodiscard]] ReportModel verification_answer(const schema::MessageRenderer& words, const schema::ProfileRun& run,
                                              std::size_t finding);

}  // namespace ridgeline::report
