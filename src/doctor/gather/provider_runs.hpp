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
#include "execute/executor.hpp"

namespace ridgeline::doctor {

/// Makes an executor whose workers see that GPU only; nullptr: the CPU's.
using MakeExecutor = std::function<std::unique_ptr<execute::Executor>(const schema::GpuDescription*)>;

/// Runs models in workers, so that a crash is a line of the report and not its end.
class ProviderRuns {
 public:
  /// `scratch`: an existing folder for the reference outputs. `identity`: ONNX Runtime as a worker sees it.
  ProviderRuns(MakeExecutor make, schema::RuntimeIdentity identity, std::filesystem::path scratch);

  /// `model` on the CPU, then with each GPU provider of this build: CUDA on every GPU, TensorRT on the first. Answers are
  /// compared with the CPU's. GPU providers that cannot load are listed as not run.
  [[nodiscard]] std::vector<ProviderRun> run(const schema::WorkloadRef& model, const std::vector<GpuFacts>& gpus, double max_time_s);

  /// The newest opset that the runtime supports, as it says when it is given one that does not exist yet.
  [[nodiscard]] std::optional<std::int64_t> newest_opset();

 private:
  [[nodiscard]] schema::TrialSpec spec_of(const schema::WorkloadRef& model, const std::string& provider, double max_time_s) const;
  [[nodiscard]] ProviderRun run_one(execute::Executor& executor, const schema::TrialSpec& spec, std::string device,
                                    const std::filesystem::path& reference) const;

  MakeExecutor make_;
  schema::RuntimeIdentity identity_;
  std::filesystem::path scratch_;
};

/// The number in "Current official support for domain ai.onnx is till opset 23."
[[nodiscard]] std::optional<std::int64_t> opset_in(const std::string& message);

}  // namespace ridgeline::doctor
