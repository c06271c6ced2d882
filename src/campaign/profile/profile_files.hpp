// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/profile.hpp"
#include "trace/analysis/analysed_trace.hpp"
#include "trace/trace.hpp"

namespace ridgeline::campaign {

/// What the files of a profiler show together.
struct ProfiledFiles {
  std::unique_ptr<const trace::Trace> trace;             ///< the events, for timelines and exports
  std::unique_ptr<const trace::AnalysedTrace> analysed;  ///< of it
  std::vector<schema::ProfileSource> sources;
  std::vector<schema::Message> notes;
  schema::ProfileTables tables;
  std::vector<schema::ProfileFinding> findings;
};

/// Of one trace alone, without sources.
[[nodiscard]] ProfiledFiles profile_trace(trace::Trace trace);

/// One trace, and counters of the same program where there are some (ncu), joined. Errors: those of the importers;
/// invalid_argument for several traces, or counters alone.
[[nodiscard]] base::Result<ProfiledFiles> profile_files(const std::vector<std::string>& paths);

}  // namespace ridgeline::campaign
