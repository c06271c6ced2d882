// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "execute/executor.hpp"
#include "schema/exported_model.hpp"
#include "schema/found_runtime.hpp"
#include "schema/gpu_ceilings.hpp"
#include "schema/model_description.hpp"
#include "schema/profiled_model.hpp"
#include "schema/runtime_graph.hpp"
#include "schema/sweep.hpp"
#include "schema/training_trial.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"
#include "workload/workload_registry.hpp"

/// Jobs with their types: each call submits one, waits for it, and reads its answer. Nothing else may be under way,
/// except where a function takes several. `slot`: where it runs.
namespace ridgeline::execute {

/// How a trial is to be run; nothing here changes its identity.
struct TrialOptions {
  std::optional<double> stop_above_ns;  ///< MeasureControl::stop_above_ns
  bool throughput = false;
  std::filesystem::path reference_outputs;  ///< compare outputs with this file; "" = no comparison
  double deadline_s = 0;                    ///< whole trial; 0 = derived from the plan (start-up allowance + budgets)
  TimeLeft time_left;
  /// The worker keeps the prepared workload, and with it its memory, until a request of another kind or for another
  /// spec; the next trial that differs in nothing but its plan measures it again without a new session: its
  /// session_create_ns is 0. Not with several callers.
  bool keep_session = false;
  /// In a worker that runs nothing else, so that what it keeps stays while other trials run. Not on a GPU.
  bool apart = false;
};

/// A trial and the slot that is to run it.
struct TrialJob {
  std::size_t slot = 0;
  schema::TrialSpec spec;
  TrialOptions options;
};

/// How a runtime is to be asked.
struct ProbeOptions {
  std::vector<schema::PluginLibrary> plugins{};  ///< to register with it
  double deadline_s = 120;                       ///< for its answer
  TimeLeft time_left{};
};

/// The runtimes that there are for workloads of that kind, by their files; see FoundRuntimes.
[[nodiscard]] base::Result<schema::RuntimeSearch> find_runtimes(Executor& executor, const std::string& kind,
                                                                const schema::RuntimeRequest& where,
                                                                const TimeLeft& time_left = {});
/// The runtime that a workload of that kind would load from `library` ("": the one found first).
[[nodiscard]] base::Result<schema::RuntimeIdentity> probe(Executor& executor, const std::string& kind,
                                                          const std::string& library, std::size_t slot = 0,
                                                          const ProbeOptions& options = {});
[[nodiscard]] base::Result<schema::ModelDescription> inspect(Executor& executor,
                                                             const workload::InspectRequest& request,
                                                             const TimeLeft& time_left = {});
/// The workload's model as ONNX files in `folder`, which is there, one for each exporter and precision
/// (schema::ExportedModel), each within `limit_s`; `library`: of the runtime that the run is on.
/// Errors: unsupported (this kind has no other form).
[[nodiscard]] base::Result<std::vector<schema::ExportedModel>> export_models(
    Executor& executor, const schema::WorkloadRef& workload, const std::string& library, const std::string& folder,
    const std::vector<std::string>& precisions, double limit_s, const TimeLeft& time_left = {});
[[nodiscard]] base::Result<schema::TrialOutcome> run_trial(Executor& executor, const schema::TrialSpec& spec,
                                                           const TrialOptions& options, std::size_t slot = 0);
/// Side by side, at most one a slot; answers in their order once all have ended.
[[nodiscard]] std::vector<base::Result<schema::TrialOutcome>> run_trials(Executor& executor,
                                                                         const std::vector<TrialJob>& jobs);
/// In processes that stand still while anything is timed. Of workloads that are made in Python; nothing where they
/// cannot be. Asked again for the same, it only says how far that is.
workload::AheadStates prepare_ahead(Executor& executor, const workload::AheadRequest& request);
/// In a fresh process, or in that of the pair before when the spec allows it; with PairedSpec::across in two at a time,
/// fresh ones for every pair of sessions.
[[nodiscard]] base::Result<schema::PairedOutcome> run_pair(Executor& executor, const schema::PairedSpec& spec,
                                                           const TimeLeft& time_left = {});
/// Runs the spec's configuration and writes its outputs; returns the output error between two runs of it (the noise
/// floor).
[[nodiscard]] base::Result<schema::OutputError> make_reference(Executor& executor, const schema::TrialSpec& spec,
                                                               const std::filesystem::path& path,
                                                               const TimeLeft& time_left = {});
/// What the GPU of slot 0 reaches at best, with the libraries that the runtime uses. Errors: unavailable (no GPU).
[[nodiscard]] base::Result<schema::GpuCeilings> gpu_ceilings(Executor& executor, const std::string& kind,
                                                             const std::string& library,
                                                             const TimeLeft& time_left = {});
/// What the runtime makes of the spec's model. Errors: unsupported (this kind or provider has no such thing), and those
/// of creating a session.
[[nodiscard]] base::Result<schema::RuntimeGraph> runtime_graph(Executor& executor, const schema::TrialSpec& spec,
                                                               const TimeLeft& time_left = {});

/// Where the time of the spec's model goes, in a worker of its own; files go to `folder`, which is there. Errors:
/// unsupported (this kind cannot be profiled), and those of creating sessions and running them.
[[nodiscard]] base::Result<schema::ProfiledModel> profile_model(Executor& executor, const schema::TrialSpec& spec,
                                                                const schema::ProfilePlan& plan,
                                                                const std::string& folder);

/// A training trial. Errors end the run: see add_training_jobs.
[[nodiscard]] Job training_job(const schema::TrainingTrialSpec& spec, std::size_t slot = 0);
/// A command of a sweep; output and metrics go to `folder`, which is made. `time_left_s`: of the whole run, nullopt: no
/// end. Errors end the run: see add_command_jobs.
[[nodiscard]] Job command_job(const schema::SweepTrialSpec& spec, const std::filesystem::path& folder,
                              std::optional<double> time_left_s, std::size_t slot = 0);
[[nodiscard]] base::Result<schema::TrainingOutcome> run_training(Executor& executor,
                                                                 const schema::TrainingTrialSpec& spec);
[[nodiscard]] base::Result<schema::SweepOutcome> run_command_trial(Executor& executor,
                                                                   const schema::SweepTrialSpec& spec,
                                                                   const std::filesystem::path& folder,
                                                                   std::optional<double> time_left_s);
/// Of a job that was made by training_job or command_job.
[[nodiscard]] base::Result<schema::TrainingOutcome> training_outcome(const JobAnswer& answer);
[[nodiscard]] base::Result<schema::SweepOutcome> command_outcome(const JobAnswer& answer);
/// Answers in the jobs' order once all have ended. After an Error other than out_of_time, which would end the run, the
/// jobs still under way are cancelled and have that Error too.
[[nodiscard]] std::vector<base::Result<JobAnswer>> run_jobs(Executor& executor, std::vector<Job> jobs);

}  // namespace ridgeline::execute
