// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/profile_campaign.hpp"

#include <utility>

#include "base/clock.hpp"
#include "campaign/budget.hpp"
#include "campaign/profile/kept_trace.hpp"
#include "campaign/run_frame.hpp"

namespace ridgeline::campaign {

void fill_profile(ProfiledFiles files, const std::string& trace_folder, MadeProfile& made) {
  auto& run = made.run;
  run.sources = std::move(files.sources);
  run.notes = std::move(files.notes);
  run.tables = std::move(files.tables);
  run.findings = std::move(files.findings);
  made.trace = std::move(files.trace);
  made.analysed = std::move(files.analysed);
  keep_trace(*made.trace, trace_folder, run);
}

base::Result<MadeProfile> import_profile(const schema::ProfileRequest& request, const std::string& trace_folder,
                                         store::Store& store) {
  MadeProfile made;
  auto& run = made.run;
  const Budget budget(base::system_clock(), std::nullopt);
  RunFrame frame(store, base::system_clock(), budget, run, schema::shell_line(request.arguments));
  run.request = request;
  RL_TRY_ASSIGN(auto files, profile_files(request.files));
  fill_profile(std::move(files), trace_folder, made);
  RL_TRY(frame.end());
  return made;
}

}  // namespace ridgeline::campaign
