// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/record_campaign.hpp"

#include <filesystem>
#include <utility>

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
  if (scratch_ && !scratch_->path().empty())
    environment_ = record_environment(std::filesystem::absolute(scratch_->path()).string(), request_.library,
                                      request_.python_folder, request_.options);
  return execute::run_attached(request_.command, environment_.variables);
}

/// Its files are not needed any more, and may be large.
Result<trace::Recording> RecordCampaign::read() {
  auto recording = trace::read_recording(scratch_->path());
  scratch_.reset();
  return recording;
}

Result<MadeProfile> RecordCampaign::profile() {
  RL_TRY_ASSIGN(auto recording, read());
  if (recording.events == 0) return nothing_recorded(recording, request_.options, environment_.other_injection);
  auto files = profile_trace(std::move(recording.trace));
  files.sources.push_back(
      {schema::shell_line(request_.command), std::string(schema::kRecordedByUs), recording.bytes, recording.events});
  if (const auto& path = environment_.other_injection; !path.empty())
    files.notes.push_back(messages::recorded_beside_injection(path));
  if (const auto& path = environment_.other_nvtx_injection; !path.empty())
    files.notes.push_back(messages::recorded_beside_nvtx_injection(path));
  fill_profile(std::move(files), request_.trace_folder, made_);
  RL_TRY(frame_.end());
  return std::move(made_);
}

}  // namespace ridgeline::campaign
