// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/configuration.hpp"
#include "schema/message.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::schema {

/// The setting of a run's configurations that names what they run on, by Candidate::id. Unset: what the user has now.
/// No runtime sees it, and no stored trial holds it.
inline constexpr std::string_view kCandidateKey = "candidate";

/// What trials of a run may run on: an engine, a runtime of it, and one of the runtime's execution providers.
struct Candidate {
  std::string id;  ///< "openvino@1.24.1", a second one "openvino@1.24.1#2"; "" for what the user has now
  std::string engine = "onnxruntime";
  RuntimeIdentity runtime;
  std::string provider;  ///< ExecutionProvider::id
  std::optional<ProviderPlugin> plugin{};
  std::string device;                     ///< TrialSpec::device
  std::vector<std::string> packages{};    ///< that bring it: "onnxruntime-openvino 1.24.1"
  Message source;                         ///< where the runtime was found
  std::optional<WorkloadRef> workload{};  ///< what it runs, where that is not the run's: a model that was exported

  /// "openvino@1.24.1", also of what the user has now.
  [[nodiscard]] std::string name() const;
};
RL_DECLARE_JSON(Candidate)

/// What became of code when it was run, one inference at a time with generated inputs.
struct CodeRun {
  std::string command;             ///< "/x/bin/python3"; "": it was not run
  std::optional<double> median_s;  ///< of an inference; unset where it failed or was not run
  Message problem;                 ///< why
  /// Of the code of the current configuration, run in the same way right after; unset where it was not, or failed.
  std::optional<double> current_median_s{};
};
RL_DECLARE_JSON(CodeRun)

/// Source code that makes what a configuration runs on, and what has to be installed for it.
struct LoadingCode {
  std::string install;  ///< "pip install onnxruntime-openvino==1.24.1"; "": not of Python's packages
  std::string python;
  std::string cpp;
  std::optional<CodeRun> python_run{};  ///< unset in the records of earlier versions
  std::optional<CodeRun> cpp_run{};     ///< the same
};
RL_DECLARE_JSON(LoadingCode)

/// Candidate::id of what the configuration runs on.
[[nodiscard]] std::string candidate_of(const Configuration& configuration);
[[nodiscard]] Configuration without_candidate(const Configuration& configuration);
/// nullptr when there is none of that id.
[[nodiscard]] const Candidate* find_candidate(const std::vector<Candidate>& candidates, std::string_view id);

}  // namespace ridgeline::schema
