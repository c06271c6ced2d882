// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "host/step_work.hpp"
#include "workload/training/data_facts.hpp"
#include "workload/training/hdf5_source.hpp"
#include "workload/training/plugin_library.hpp"
#include "workload/training/step_runner.hpp"

namespace ridgeline::workload {

/// What is known about a native job once plugin and data were asked.
struct NativeJob {
  std::string runtime;        ///< PluginLibrary::runtime
  bool cuda = false;          ///< PluginLibrary::has_cuda
  std::string target_sha256;  ///< of the TorchScript file, or of the model's name
  DataFacts data;
  std::optional<std::int64_t> parameters;  ///< that are trained; nullopt: an older plugin
};

/// Trains the built-in models and TorchScript files of the LibTorch plugin, on an HDF5 file or on random data. For
/// worker processes: LibTorch lives in this one from then on.
class PluginStepRunner final : public StepRunner {
 public:
  explicit PluginStepRunner(PluginLibrary library) : library_(std::move(library)) {}
  ~PluginStepRunner() override { close(); }
  PluginStepRunner(const PluginStepRunner&) = delete;
  PluginStepRunner& operator=(const PluginStepRunner&) = delete;

  /// Looks at the data and builds the model once, on the CPU, so that every mistake of the request is found before
  /// anything is measured. Errors: those of the data and of the plugin.
  [[nodiscard]] StepResult<NativeJob> describe(const schema::TrainingJob& job);

  [[nodiscard]] StepResult<void> prepare(const schema::TrainingTrialSpec& spec) override;
  [[nodiscard]] StepResult<StepWindow> run(std::int64_t steps) override;
  [[nodiscard]] StepResult<void> reset_peaks() override;
  [[nodiscard]] StepResult<schema::TrainingResources> resources() override;
  void close() noexcept override;
  [[nodiscard]] bool renew() noexcept override { return library_.release_memory(); }

 private:
  [[nodiscard]] StepResult<rl_train_stats> stats();

  PluginLibrary library_;
  std::unique_ptr<Hdf5Source> source_;  ///< outlives the trial
  rl_train_trial* trial_ = nullptr;
  loader::LoaderStatistics before_;
  schema::DataMode data_ = schema::DataMode::loader;
  host::StepWork::Seconds work_;  ///< of the timed windows
  double timed_s_ = 0;
};

}  // namespace ridgeline::workload
