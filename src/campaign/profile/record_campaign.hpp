// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/scratch_folder.hpp"
#include "campaign/budget.hpp"
#include "campaign/profile/profile_campaign.hpp"
#include "campaign/profile/record_environment.hpp"
#include "campaign/profile/record_options.hpp"
#include "campaign/run_frame.hpp"
#include "execute/attached_command.hpp"
#include "schema/profile.hpp"
#include "store/store.hpp"
#include "trace/record/recording.hpp"

namespace ridgeline::campaign {

/// A program that is to be run and recorded (ProfileRequest::command).
struct RecordRequest : schema::ProfileRequest {
  RecordOptions options;
  std::string library;        ///< that records, an absolute path; "": the program runs without
  std::string python_folder;  ///< record_environment
  std::string trace_folder;   ///< where the events are kept (keep_trace); "": nowhere
};

/// Runs a program whose processes record themselves, and makes the profile of what they recorded.
///   RecordCampaign campaign(request, store);
///   RL_TRY_ASSIGN(const auto end, campaign.run());
///   RL_TRY_ASSIGN(const auto made, campaign.profile());
class RecordCampaign {
 public:
  /// `store` must outlive it.
  RecordCampaign(RecordRequest request, store::Store& store);

  /// Whether what the program does can be recorded. Errors: there is no folder for it.
  [[nodiscard]] base::Result<void> check() const;
  /// Errors: those of run_attached; the program did not run then.
  [[nodiscard]] base::Result<execute::AttachedEnd> run();
  /// After run(). Errors: unavailable where nothing was recorded, with the reason and the fix, and no run is stored
  /// then; those of the store.
  [[nodiscard]] base::Result<MadeProfile> profile();

 private:
  [[nodiscard]] base::Result<trace::Recording> read();

  RecordRequest request_;
  MadeProfile made_;
  Budget budget_;
  RunFrame<schema::ProfileRun> frame_;
  std::optional<base::ScratchFolder> scratch_;
  RecordEnvironment environment_;
};

}  // namespace ridgeline::campaign
