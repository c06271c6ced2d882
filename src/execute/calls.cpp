// SPDX-License-Identifier: Apache-2.0
#include "execute/calls.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/ranges.h>

#include "execute/deadline.hpp"
#include "execute/message.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;
using base::Result;

constexpr double kFindDeadlineS = 60;
constexpr double kProbeDeadlineS = 120;
constexpr double kInspectDeadlineS = 600;

Job job_of(std::string_view kind, base::Json request, double deadline_s, std::string doing, TimeLeft time_left = {}) {
  Job job;
  job.kind = kind;
  job.request = std::move(request);
  job.deadline_s = deadline_s;
  job.doing = std::move(doing);
  job.time_left = time_left;
  return job;
}

template <typename T>
Result<T> call(Executor& executor, Job job) {
  std::vector<Job> jobs;
  jobs.push_back(std::move(job));
  RL_TRY_ASSIGN(auto answer, std::move(run_jobs(executor, std::move(jobs)).front()));
  return read_answer<T>(std::move(answer));
}

Job trial_job(const schema::TrialSpec& spec, const TrialOptions& options, std::size_t slot) {
  const TrialRequest request{
      spec,         options.stop_above_ns, options.throughput, options.reference_outputs.string(), options.keep_session,
      options.apart};
  const double deadline_s = options.deadline_s > 0 ? options.deadline_s : derived_deadline_s(spec.plan, spec.provider);
  auto job = job_of(job_kind::kTrial, request, deadline_s, "", options.time_left);
  job.slot = slot;
  return job;
}

/// A worker that died of its inputs, of a signal that the error has as its number, cannot say what they were.
base::Error with_inputs(base::Error error, const schema::WorkloadRef& workload) {
  if (error.code != ErrorCode::refused_inputs || error.number == 0 || workload.input_values.empty()) return error;
  std::vector<std::string> named;
  for (const auto& values : workload.input_values.front())
    named.push_back(fmt::format("{} = {}", values.name, schema::values_text(values, 1)));
  if (!named.empty()) error.message += fmt::format(" ({})", fmt::join(named, ", "));
  return error;
}

/// What a failed reference leaves to do, where it has no hint of its own. What the user gave is their own to fix.
base::Error with_next_step(base::Error error) {
  if (!error.hint.empty()) return error;
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::refused_inputs:
    case ErrorCode::cancelled:
    case ErrorCode::out_of_time: break;
    case ErrorCode::out_of_memory:
      error.hint = "free memory, give a smaller --shape or --batch, or --accuracy-tolerance off to go on without it";
      break;
    default: error.hint = "try another --ort-library, or --accuracy-tolerance off to go on without it";
  }
  return error;
}

}  // namespace

Result<schema::RuntimeSearch> find_runtimes(Executor& executor, const std::string& kind,
                                            const schema::RuntimeRequest& where, const TimeLeft& time_left) {
  return call<schema::RuntimeSearch>(
      executor, job_of(job_kind::kFind, FindRequest{kind, where}, kFindDeadlineS, "looking for runtimes", time_left));
}

Result<schema::RuntimeIdentity> probe(Executor& executor, const std::string& kind, const std::string& library,
                                      std::size_t slot, const ProbeOptions& options) {
  auto job = job_of(job_kind::kProbe, ProbeRequest{kind, library, options.plugins}, options.deadline_s,
                    fmt::format("loading the runtime of \"{}\"", kind), options.time_left);
  job.slot = slot;
  return call<schema::RuntimeIdentity>(executor, std::move(job));
}

Result<schema::ModelDescription> inspect(Executor& executor, const workload::InspectRequest& request,
                                         const TimeLeft& time_left) {
  return call<schema::ModelDescription>(
      executor, job_of(job_kind::kInspect, InspectMessage{request.workload, request.runtime_library, request.length},
                       kInspectDeadlineS, fmt::format("reading {}", request.workload.location), time_left));
}

Result<std::vector<schema::ExportedModel>> export_models(Executor& executor, const schema::WorkloadRef& workload,
                                                         const std::string& library, const std::string& folder,
                                                         const std::vector<std::string>& precisions, double limit_s,
                                                         const TimeLeft& time_left) {
  return call<std::vector<schema::ExportedModel>>(
      executor, job_of(job_kind::kExport, ExportRequest{workload, library, folder, precisions, limit_s},
                       kInspectDeadlineS, fmt::format("exporting {}", workload.location), time_left));
}

Result<schema::TrialOutcome> run_trial(Executor& executor, const schema::TrialSpec& spec, const TrialOptions& options,
                                       std::size_t slot) {
  return call<schema::TrialOutcome>(executor, trial_job(spec, options, slot));
}

std::vector<Result<schema::TrialOutcome>> run_trials(Executor& executor, const std::vector<TrialJob>& jobs) {
  std::vector<Job> all;
  for (const auto& job : jobs) all.push_back(trial_job(job.spec, job.options, job.slot));
  std::vector<Result<schema::TrialOutcome>> outcomes;
  for (auto& answer : run_jobs(executor, std::move(all)))
    outcomes.push_back(std::move(answer).and_then(&read_answer<schema::TrialOutcome>));
  return outcomes;
}

workload::AheadStates prepare_ahead(Executor& executor, const workload::AheadRequest& request) {
  const auto known = executor.capabilities(0);
  if (std::find(known.begin(), known.end(), job_kind::kAhead) == known.end()) return {};
  auto states = call<workload::AheadStates>(
      executor, job_of(job_kind::kAhead, request, kFindDeadlineS, "preparing trials ahead"));
  return states ? std::move(*states) : workload::AheadStates{};
}

Result<schema::PairedOutcome> run_pair(Executor& executor, const schema::PairedSpec& spec, const TimeLeft& time_left) {
  double deadline_s = derived_deadline_s(spec.plan, spec.base.provider);
  if (spec.across) deadline_s = std::max(deadline_s, derived_deadline_s(spec.plan, spec.across->provider));
  return call<schema::PairedOutcome>(
      executor, job_of(job_kind::kPair, PairRequest{spec, 0, spec.fresh_process}, deadline_s, "", time_left));
}

Result<schema::OutputError> make_reference(Executor& executor, const schema::TrialSpec& spec,
                                           const std::filesystem::path& path, const TimeLeft& time_left) {
  return call<schema::OutputError>(executor, job_of(job_kind::kReference, ReferenceRequest{spec, path.string()},
                                                    derived_deadline_s(spec.plan, spec.provider),
                                                    "running the accuracy reference", time_left))
      .map_error([&](auto error) { return with_inputs(with_next_step(std::move(error)), spec.workload); });
}

Result<schema::GpuCeilings> gpu_ceilings(Executor& executor, const std::string& kind, const std::string& library,
                                         const TimeLeft& time_left) {
  return call<schema::GpuCeilings>(executor, job_of(job_kind::kCeilings, ProbeRequest{kind, library}, kProbeDeadlineS,
                                                    "measuring what the GPU reaches", time_left));
}

Result<schema::RuntimeGraph> runtime_graph(Executor& executor, const schema::TrialSpec& spec,
                                           const TimeLeft& time_left) {
  return call<schema::RuntimeGraph>(
      executor, job_of(job_kind::kGraph, GraphRequest{spec}, kProbeDeadlineS,
                       fmt::format("reading the runtime's graph of {}", spec.workload.location), time_left));
}

Result<schema::ProfiledModel> profile_model(Executor& executor, const schema::TrialSpec& spec,
                                            const schema::ProfilePlan& plan, const std::string& folder) {
  const auto deadline_s = derived_deadline_s(spec.plan, spec.provider) + plan.warmup_s + plan.time_s;
  return call<schema::ProfiledModel>(executor, job_of(job_kind::kProfile, ProfileRequest{spec, plan, folder},
                                                      deadline_s, fmt::format("profiling {}", spec.workload.location)))
      .map_error([&](auto error) { return with_inputs(std::move(error), spec.workload); });
}

Job training_job(const schema::TrainingTrialSpec& spec, std::size_t slot) {
  auto job = job_of(job_kind::kTrainingTrial, spec, 0, "");
  job.slot = slot;
  return job;
}

Job command_job(const schema::SweepTrialSpec& spec, const std::filesystem::path& folder,
                std::optional<double> time_left_s, std::size_t slot) {
  auto job = job_of(job_kind::kCommand, CommandTrial{spec, folder.string()}, 0, "");
  if (time_left_s) job.time_left.seconds = *time_left_s;
  job.slot = slot;
  return job;
}

Result<schema::TrainingOutcome> run_training(Executor& executor, const schema::TrainingTrialSpec& spec) {
  return call<schema::TrainingOutcome>(executor, training_job(spec));
}

Result<schema::SweepOutcome> run_command_trial(Executor& executor, const schema::SweepTrialSpec& spec,
                                               const std::filesystem::path& folder, std::optional<double> time_left_s) {
  return call<schema::SweepOutcome>(executor, command_job(spec, folder, time_left_s));
}

Result<schema::TrainingOutcome> training_outcome(const JobAnswer& answer) {
  return read_answer<schema::TrainingOutcome>(answer);
}

Result<schema::SweepOutcome> command_outcome(const JobAnswer& answer) {
  return read_answer<schema::SweepOutcome>(answer);
}

std::vector<Result<JobAnswer>> run_jobs(Executor& executor, std::vector<Job> jobs) {
  std::vector<Result<JobAnswer>> answers(jobs.size(), base::fail(ErrorCode::internal, "no answer came"));
  std::map<JobId, std::size_t> places;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (auto id = executor.submit(std::move(jobs[i])))
      places[*id] = i;
    else
      answers[i] = tl::unexpected<base::Error>(std::move(id).error());
  }
  std::optional<base::Error> fault;
  while (auto ended = executor.wait_any()) {
    auto& answer = answers[places.at(ended->id)] = std::move(ended->answer);
    if (answer || answer.error().code == ErrorCode::out_of_time) continue;
    if (!fault) {
      fault = answer.error();
      executor.cancel();
    } else if (answer.error().code == ErrorCode::cancelled) {
      answer = tl::unexpected<base::Error>(*fault);
    }
  }
  return answers;
}

}  // namespace ridgeline::execute
