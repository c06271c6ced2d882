// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/error.hpp"
#include "campaign/profile/profile_files.hpp"
#include "schema/profile.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// A profile that was made, and its events while they are there.
struct MadeProfile {
  schema::ProfileRun run;
  std::unique_ptr<const trace::Trace> trace;
  std::unique_ptr<const trace::AnalysedTrace> analysed;  ///< of it
};

/// Puts what was found into the run and stores nothing yet; its events go to `trace_folder` (keep_trace).
void fill_profile(ProfiledFiles files, const std::string& trace_folder, MadeProfile& made);

/// Reads what other profilers recorded, analyses it and stores the run; its events go to `trace_folder` (keep_trace).
/// Errors: those of profile_files and of the store.
[[nodiscard]] base::Result<MadeProfile> import_profile(const schema::ProfileRequest& request,
                                                       const std::string& trace_folder, store::Store& store);

}  // namespace ridgeline::campaign
