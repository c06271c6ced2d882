// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "execute/training_jobs.hpp"
#include "ridgeline/training_children.hpp"
#include "schema/training_trial.hpp"
#include "workload/training/data_facts.hpp"
#include "workload/training/step_runner.hpp"

namespace ridgeline::app {

/// What a Python training job is, asked of the interpreter before anything is measured.
struct PythonJob {
  std::string runtime;        ///< "torch 2.11.0+cu130 (cuda 13.0), Python 3.11.2"
  std::string source_sha256;  ///< of the module's file
  bool cuda = false;          ///< its torch was built for CUDA
};

/// Errors, one line each: no such interpreter, module or function, torch missing, an import that does not end.
[[nodiscard]] base::Result<PythonJob> describe_python_job(const std::string& interpreter, const std::string& target,
                                                          const ChildTerms& terms);

/// What a native job is, asked of processes before anything is measured: this one never loads LibTorch.
struct NativeJobFacts {
  std::string runtime;        ///< "torch 1.13.1, cpu"
  std::string trainer;        ///< "LibTorch plugin: torch 1.13.1, cpu", or Python with its torch and interpreter
  std::string target_sha256;  ///< of the TorchScript file, or of the model's name
  workload::DataFacts data;
  bool cuda = false;                                  ///< its torch sees a GPU
  std::map<std::string, std::string> refused_levers;  ///< that have no effect on it, and why
};

/// `plugin`: --torch-plugin or "", for jobs that name no interpreter. Errors, one line each: no plugin, one that cannot
/// be loaded, no such model, loss, optimizer or option, data that cannot be trained on.
[[nodiscard]] base::Result<NativeJobFacts> describe_native_job(const schema::TrainingJob& job,
                                                               const std::string& plugin, const ChildTerms& terms);

/// Whether the data of a native job can be trained on, whatever the model.
[[nodiscard]] base::Result<void> check_training_data(const schema::TrainingJob& job, const ChildTerms& terms);

/// Notes naming the transforms that take at least a tenth of a sample's time, dearest first, as they are in the loader
/// workers of the settings; of scripts and functions whose data set shows its transforms. What cannot be found out, or
/// not in `limit_s` seconds, is one note that says why. `environment`: as of make_bench_runners.
[[nodiscard]] std::vector<schema::Message> explain_loader(
    schema::TrainingTrialSpec spec, const ChildTerms& terms, double limit_s,
    const std::vector<std::pair<std::string, std::string>>& environment);

/// How trials of a job are run: the factory of its runners, and the clock that measures its trials (nullptr: the
/// system's). Errors: unsupported (a way of training that this build has not).
struct BenchRunners {
  workload::StepRunnerFactory factory;
  std::shared_ptr<const base::Clock> clock;
  std::function<bool()> process_waits;  ///< execute::TrainingOptions
};
/// `environment`: set for its processes, on top of ours.
[[nodiscard]] base::Result<BenchRunners> make_bench_runners(
    const schema::TrainingJob& job, const std::string& plugin, const ChildTerms& terms,
    const std::vector<std::pair<std::string, std::string>>& environment = {});

}  // namespace ridgeline::app
