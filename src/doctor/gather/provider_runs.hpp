// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "execute/calls.hpp"

namespace ridgeline::doctor {

/// Makes an executor whose workers see that GPU only; nullptr: the CPU's.
using MakeExecutor = std::function<std::unique_ptr<execute::Executor>(const schema::GpuDescription*)>;

/// Runs models in workers, so that a crash is a line of the report and not its end.
class ProviderRuns {
 public:
  /// `scratch`: an existing folder for the reference outputs. `identity`: ONNX Runtime as a worker sees it.
  ProviderRuns(MakeExecutor make, schema::RuntimeIdentity identity, std::filesystem::path scratch);

  /// `model` on the CPU, then with each GPU provider of this build: CUDA on every GPU, TensorRT on the first. Answers
  /// are compared with the CPU's. GPU providers that cannot load are listed as not run.
  [[nodiscard]] std::vector<ProviderRun> run(const schema::WorkloadRef& model, const std::vector<GpuFacts>& gpus,
                                             double max_time_s);

  /// Whether the runtime takes a small model of that opset; nullopt when it cannot be tried.
  [[nodiscard]] std::optional<bool> supports_opset(std::int64_t opset) const;
  /// The newest that it takes, below `refused`.
  [[nodiscard]] std::optional<std::int64_t> newest_opset(std::int64_t refused) const;

 private:
  [[nodiscard]] schema::TrialSpec spec_of(const schema::WorkloadRef& model, const std::string& provider,
                                          double max_time_s) const;
  [[nodiscard]] ProviderRun run_one(execute::Executor& executor, const schema::TrialSpec& spec, std::string device,
                                    const std::filesystem::path& reference) const;

  MakeExecutor make_;
  schema::RuntimeIdentity identity_;
  std::filesystem::path scratch_;
};

}  // namespace ridgeline::doctor
