// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/scratch_folder.hpp"
#include "campaign/budget.hpp"
#include "campaign/profile/gpu_watch.hpp"
#include "campaign/profile/profile_campaign.hpp"
#include "campaign/profile/record_environment.hpp"
#include "campaign/profile/record_options.hpp"
#include "campaign/profile/size_forecast.hpp"
#include "campaign/run_frame.hpp"
#include "execute/attached_command.hpp"
#include "execute/idle_recorder.hpp"
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

/// How many events per process can be read, if that many processes share the memory that is free now.
[[nodiscard]] std::int64_t readable_events(std::int64_t processes);

/// Runs a program whose processes record themselves, and makes the profile of what they recorded.
///   RecordCampaign campaign(request, store);
///   RL_TRY_ASSIGN(const auto end, campaign.run());
///   campaign.count();
///   RL_TRY_ASSIGN(const auto made, campaign.profile());
/// For a process that runs already, wake() takes the place of run() and count().
class RecordCampaign {
 public:
  /// `store` must outlive it.
  RecordCampaign(RecordRequest request, store::Store& store);

  /// Whether what the program does can be recorded. Errors: there is no folder for it, or no space in that.
  [[nodiscard]] base::Result<void> check() const;
  /// `warn` is called at most once, while the program runs. Errors: those of run_attached; the program did not run
  /// then.
  [[nodiscard]] base::Result<execute::AttachedEnd> run(const std::function<void(const SizeWarning&)>& warn = {});
  /// In the place of run(): records a process that runs already, as RecordOptions has it. Errors: those of
  /// IdleRecorder::record.
  [[nodiscard]] base::Result<execute::WokenEnd> wake(const execute::IdleRecorder& recorder,
                                                     const std::function<void(const SizeWarning&)>& warn = {});
  /// After run(): whether a process of the program used CUDA.
  [[nodiscard]] bool uses_gpu() const;
  /// After run(): runs the program once more, only to count bytes (Counting::rerun). What goes wrong is a note of the
  /// profile.
  void count();
  /// After run(), or count(). Errors: unavailable where nothing was recorded, with the reason and the fix, and no run
  /// is stored then; those of the store.
  [[nodiscard]] base::Result<MadeProfile> profile();

 private:
  [[nodiscard]] static base::Result<trace::Recording> read(std::optional<base::ScratchFolder>& scratch);
  /// Looks at what is recorded so far, and warns at most once.
  [[nodiscard]] std::function<void()> size_watch(const std::function<void(const SizeWarning&)>& warn);
  [[nodiscard]] std::vector<schema::Message> woken_notes(const trace::Recording& recording) const;
  [[nodiscard]] RecordEnvironment environment_in(const base::ScratchFolder& scratch, std::string options) const;
  /// What the second run counted becomes part of the trace; returns what is to be reported of it.
  [[nodiscard]] std::vector<schema::Message> add_second_run(trace::Trace& trace);

  RecordRequest request_;
  MadeProfile made_;
  Budget budget_;
  RunFrame<schema::ProfileRun> frame_;
  std::optional<base::ScratchFolder> scratch_;
  RecordEnvironment environment_;
  std::optional<execute::AttachedEnd> end_;      ///< of the program
  std::optional<execute::WokenEnd> woken_;       ///< of the recording of a process that ran already
  std::optional<base::ScratchFolder> counting_;  ///< of the second run
  schema::Message counting_failure_;             ///< of the second run; empty: none
  std::vector<schema::ProfileBandwidth> bandwidths_;
  GpuWatch::Samples gpu_samples_;
};

}  // namespace ridgeline::campaign
