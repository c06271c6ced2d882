// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "ridgeline/profile_flags.hpp"
#include "schema/profile.hpp"
#include "trace/analysis/analysed_trace.hpp"

namespace ridgeline::app {

/// Shows the profile and writes what was asked for, each file also if another one fails. `analysed`: its events, for
/// timelines. Errors: files that cannot be written; a kernel that is not there, whose profile is shown all the same.
[[nodiscard]] base::Result<void> write_profile(const schema::ProfileRun& run, const trace::AnalysedTrace& analysed,
                                               const ProfileFlags& flags);

/// The run as JSON and CSV, where they are asked for. Errors: a file that cannot be written.
[[nodiscard]] base::Result<void> write_profile_data(const schema::ProfileRun& run, const ProfileFlags& flags);

}  // namespace ridgeline::app
