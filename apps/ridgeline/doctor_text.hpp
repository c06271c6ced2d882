// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "doctor/doctor_report.hpp"
#include "ridgeline/terminal.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::app {

/// The report for a terminal: one line a check, what is wrong with its fix below it. Lines of checks that are well are
/// cut to the width of an interactive terminal; everything else, and every library, is wrapped. Marks are ASCII without
/// `unicode`.
[[nodiscard]] std::string doctor_text(const schema::MessageRenderer& words, const doctor::DoctorReport& report,
                                      const Terminal& terminal, bool unicode);

/// The same as a checklist, fixes as shell lines to copy.
[[nodiscard]] std::string fix_hints_text(const schema::MessageRenderer& words, const doctor::DoctorReport& report,
                                         const Terminal& terminal, bool unicode);

}  // namespace ridgeline::app
