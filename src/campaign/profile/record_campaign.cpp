// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/record_campaign.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "campaign/messages.hpp"
#include "campaign/profile/bandwidth_watch.hpp"
#include "campaign/profile/nothing_recorded.hpp"
#include "campaign/profile/recording_cost.hpp"
#include "execute/local_environment.hpp"
#include "trace/record/counting_notes.hpp"
#include "trace/record/merge_traces.hpp"

namespace ridgeline::campaign {

using namespace std::chrono_literals;
using base::ErrorCode;
using base::Result;

namespace {

constexpr double kLeastFree = 16'000'000;  // of the temporary folder; less holds no recording

std::optional<double> free_bytes(const std::filesystem::path& folder) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  return error ? std::nullopt : std::optional(static_cast<double>(space.available));
}

}  // namespace

std::int64_t readable_events(std::int64_t processes) {
  return execute::available_memory_bytes() / processes / trace::kMemoryPerEvent;
}

RecordCampaign::RecordCampaign(RecordRequest request, store::Store& store)
    : request_(std::move(request)),
      budget_(base::system_clock(), std::nullopt),
      frame_(store, base::system_clock(), budget_, made_.run, schema::shell_line(request_.arguments)) {
  made_.run.request = request_;
  if (!request_.library.empty()) scratch_.emplace("record");
}

Result<void> RecordCampaign::check() const {
  if (!scratch_) return {};
  if (scratch_->path().empty())
    return base::fail(ErrorCode::io, "no temporary folder can be made").hint("set TMPDIR to a writable folder");
  const auto free = free_bytes(scratch_->path());
  if (free && *free < kLeastFree)
    return base::fail(ErrorCode::io, "the temporary folder {} is full ({} free)",
                      scratch_->path().parent_path().string(), base::format_bytes(*free))
        .hint("free space there, or set TMPDIR to another folder");
  return {};
}

RecordEnvironment RecordCampaign::environment_in(const base::ScratchFolder& scratch, std::string options) const {
  // The delay counts from the start of the program; the recording library reads the same clock.
  if (request_.options.delay_s)
    options += fmt::format(";start_ns={}", std::chrono::steady_clock::now().time_since_epoch() / 1ns);
  return record_environment(std::filesystem::absolute(scratch.path()).string(), request_.library,
                            request_.python_folder, options);
}

Result<execute::AttachedEnd> RecordCampaign::run(const std::function<void(const SizeWarning&)>& warn) {
  if (!scratch_ || scratch_->path().empty()) return execute::run_attached(request_.command, {});
  environment_ = environment_in(*scratch_, request_.options.text());
  BandwidthWatch bandwidth;
  GpuWatch gpus;
  RL_TRY_ASSIGN(end_, execute::run_attached(request_.command, environment_.variables, size_watch(warn)));
  bandwidths_ = bandwidth.stop();
  gpu_samples_ = gpus.stop();
  return *end_;
}

std::function<void()> RecordCampaign::size_watch(const std::function<void(const SizeWarning&)>& warn) {
  return [this, warn, forecast = SizeForecast(request_.options)]() mutable {
    if (!warn) return;
    for (const auto& process : trace::read_processes(scratch_->path()))
      if (const auto warning = forecast.add(process)) warn(*warning);
  };
}

Result<execute::WokenEnd> RecordCampaign::wake(const execute::IdleRecorder& recorder,
                                               const std::function<void(const SizeWarning&)>& warn) {
  BandwidthWatch bandwidth;
  GpuWatch gpus;
  RL_TRY_ASSIGN(woken_, recorder.record(std::filesystem::absolute(scratch_->path()).string(), request_.options.text(),
                                        size_watch(warn)));
  bandwidths_ = bandwidth.stop();
  gpu_samples_ = gpus.stop();
  return *woken_;
}

std::vector<schema::Message> RecordCampaign::woken_notes(const trace::Recording& recording) const {
  std::vector<schema::Message> notes;
  if (woken_->process_ended) notes.push_back(messages::recorded_process_ended());
  if (woken_->is_lost) notes.push_back(messages::recorder_lost());
  std::int64_t steps = 0;
  for (const auto& process : recording.processes) steps = std::max(steps, process.recorded_steps);
  if (const auto asked = request_.options.steps;
      asked && steps < *asked && request_.options.duration_s && !woken_->process_ended && !woken_->is_interrupted)
    notes.push_back(messages::recorded_fewer_steps(
        {.steps = steps,
         .asked = *asked,
         .limit = static_cast<double>(base::from_seconds(*request_.options.duration_s).count())}));
  return notes;
}

bool RecordCampaign::uses_gpu() const {
  if (!scratch_) return false;
  const auto processes = trace::read_processes(scratch_->path());
  return std::any_of(processes.begin(), processes.end(), [](const auto& one) { return one.uses_cuda; });
}

void RecordCampaign::count() {
  counting_.emplace("count");
  if (counting_->path().empty()) {
    counting_.reset();
    counting_failure_ = messages::counting_failed("no temporary folder can be made");
    return;
  }
  const auto environment = environment_in(*counting_, request_.options.text_of_rerun());
  const auto end = execute::run_attached(request_.command, environment.variables);
  if (!end)
    counting_failure_ = messages::counting_failed(base::error_line(end.error()));
  else if (end->is_left || end->is_interrupted)
    counting_failure_ = messages::counting_interrupted();
  else if (end->exit_code != end_->exit_code)
    counting_failure_ = messages::counting_ended_otherwise({.first = end_->exit_code, .second = end->exit_code});
  if (end && end->is_left) counting_.reset();  // it may still write
}

/// Its files are not needed any more, and may be large.
Result<trace::Recording> RecordCampaign::read(std::optional<base::ScratchFolder>& scratch) {
  auto recording = trace::read_recording(scratch->path());
  scratch.reset();
  return recording;
}

std::vector<schema::Message> RecordCampaign::add_second_run(trace::Trace& trace) {
  std::vector<schema::Message> notes;
  if (!counting_failure_.empty()) notes.push_back(counting_failure_);
  if (!counting_ && notes.empty())
    notes.push_back(trace.kernels.size() > 0 ? messages::counting_left_out() : messages::counting_without_work());
  if (!counting_) return notes;
  auto second = read(counting_);
  if (!second) {
    notes.push_back(messages::counting_failed(base::error_line(second.error())));
    return notes;
  }
  for (auto& note : trace::counting_notes(second->processes)) notes.push_back(std::move(note));
  if (second->trace.counted.size() == 0 && notes.empty())
    notes.push_back(messages::counting_failed("it counted no launch"));
  trace::add_counted(trace, std::move(second->trace));
  return notes;
}

Result<MadeProfile> RecordCampaign::profile() {
  RL_TRY_ASSIGN(auto recording, read(scratch_));
  if (recording.events == 0)
    return nothing_recorded(recording, request_.options, environment_.other_injection, !request_.python_folder.empty());
  const bool has_second_run = request_.options.counting == Counting::rerun;
  const auto counting = has_second_run ? add_second_run(recording.trace) : trace::counting_notes(recording.processes);
  add_gpu_samples(gpu_samples_, recording.devices, recording.trace);
  auto files = profile_trace(std::move(recording.trace));
  files.sources.push_back(
      {schema::shell_line(request_.command), std::string(schema::kRecordedByUs), recording.bytes, recording.events});
  for (auto& row : files.tables.bytes) row.second_run = has_second_run;
  files.notes.insert(files.notes.end(), counting.begin(), counting.end());
  if (files.tables.bytes.empty() && files.tables.graphs.empty()) made_.run.bandwidths = std::move(bandwidths_);
  if (const auto& path = environment_.other_injection; !path.empty())
    files.notes.push_back(messages::recorded_beside_injection(path));
  if (const auto& path = environment_.other_nvtx_injection; !path.empty())
    files.notes.push_back(messages::recorded_beside_nvtx_injection(path));
  if (!request_.options.profiler_api && std::any_of(recording.processes.begin(), recording.processes.end(),
                                                    [](const auto& one) { return one.calls_profiler_api; }))
    files.notes.push_back(messages::recorded_beyond_profiler_api());
  if (woken_)
    for (auto& note : woken_notes(recording)) files.notes.push_back(std::move(note));
  else if (!files.tables.steps.empty())
    files.notes.push_back(recording_cost(recording.processes));
  fill_profile(std::move(files), request_.trace_folder, made_);
  RL_TRY(frame_.end());
  return std::move(made_);
}

}  // namespace ridgeline::campaign
