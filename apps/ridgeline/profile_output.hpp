// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "ridgeline/profile_flags.hpp"
#include "schema/profile.hpp"
#include "trace/trace.hpp"

namespace ridgeline::app {

/// Shows the profile and writes what was asked for. `trace`: its events, for timelines. Errors: files that cannot be
/// written; a kernel that is not there.
[[nodiscard]] base::Result<void> write_profile(const schema::ProfileRun& run, const trace::Trace& trace,
                                               const ProfileFlags& flags);

}  // namespace ridgeline::app
