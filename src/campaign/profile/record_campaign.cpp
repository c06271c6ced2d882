// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/record_campaign.hpp"

#include <utility>

#include "base/version.hpp"
#include "campaign/messages.hpp"
#include "campaign/profile/nothing_recorded.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::Result;

RecordCampaign::RecordCampaign(RecordRequest request, store::Store& store)
    : request_(std::move(request)),
      budget_(base::system_clock(), std::nullopt),
      frame_(store, base::system_clock(), budget_, made_.run, schema::shell_line(request_.arguments)) {
  made_.run.request = request_;
  if (!request_.library.empty()) scratch_.emplace("record");
}

Result<void> RecordCampaign::check() const {
  if (!scratch_ || !scratch_->path().empty()) return {};
  return base::fail(ErrorCode::io, "no temporary folder can be made").hint("set TMPDIR to a writable folder");
}

Result<execute::AttachedEnd> RecordCampaign::run() {
  RecordEnvironment environment;
  if (scratch_ && !scratch_->path().empty())
    environment =
        record_environment(scratch_->path().string(), request_.library, request_.python_folder, request_.options);
  other_injection_ = environment.other_injection;
  return execute::run_attached(request_.command, environment.variables);
}

/// Its files are not needed any more, and may be large.
Result<trace::Recording> RecordCampaign::read() {
  auto recording = trace::read_recording(scratch_->path());
  scratch_.reset();
  return recording;
}

Result<MadeProfile> RecordCampaign::profile() {
  RL_TRY_ASSIGN(auto recording, read());
  if (recording.events == 0) return nothing_recorded(recording, request_.options, other_injection_);
  auto files = profile_trace(std::move(recording.trace));
  files.sources.push_back(
      {schema::shell_line(request_.command), std::string(schema::kRecordedByUs), recording.bytes, recording.events});
  if (!other_injection_.empty()) files.notes.push_back(messages::recorded_beside_injection(other_injection_));
  fill_profile(std::move(files), request_.trace_folder, made_);
  RL_TRY(frame_.end());
  return std::move(made_);
}

}  // namespace ridgeline::campaign
