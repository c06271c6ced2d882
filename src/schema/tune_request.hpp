// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/configuration.hpp"
#include "schema/found_runtime.hpp"
#include "schema/objective.hpp"
#include "schema/run_request.hpp"
#include "schema/trial_spec.hpp"
#include "schema/workload_ref.hpp"

namespace ridgeline::schema {

/// One searched parameter and the values it may take (the unset default is always a candidate too).
struct Dimension {
  std::string key;
  std::vector<Value> values;
  friend bool operator==(const Dimension&, const Dimension&) = default;
};
RL_DECLARE_JSON(Dimension)

/// The user's own word on the space (--space FILE, --set, --batch).
struct SpaceRequest {
  std::string named;              ///< a space of search::resolve_named_space, or ""
  std::string file;               ///< that the rest was read from, or ""
  std::vector<Dimension> values;  ///< replaces the candidates of these keys; also switches on unsearched ones
  Configuration fixed;            ///< pinned: not searched
  std::map<std::string, std::string> asked_by;  ///< keys that the command line names, with its words ("--batch 3")
  std::vector<std::string> exclude;             ///< keys not to be searched
  std::vector<std::string>
      constraints;           ///< "intra_op_num_threads * parallel_sessions <= 8": key/number (*|+) ... relation ...
  bool only_listed = false;  ///< search nothing but `values`
  std::vector<std::string> always_set;  ///< listed keys without a default that no configuration leaves unset
};
RL_DECLARE_JSON(SpaceRequest)

/// What a `ridgeline tune` was asked for, as it is stored.
struct TuneRequest : RunRequest {
  WorkloadRef workload;         ///< kind, location, the user's shapes and input files, seed
  std::string provider;         ///< ExecutionProvider::id, "auto", or "": the current one
  std::string tensor_location;  ///< TrialSpec::tensor_location of every trial; "": what suits the model
  std::string ort_library;
  std::vector<std::string> runtimes;   ///< --runtime
  std::vector<PluginLibrary> plugins;  ///< --ep-library
  std::string search = "adaptive";
  Objective objective = Objective::latency;
  std::vector<Constraint> constraints;
  SpaceRequest space;
  MeasurementPlan plan;
  PairedPlan paired;
  std::size_t finalists = 3;  ///< configurations compared with the current one, at most; 0: the trials are only ranked
  bool leave_one_out = true;
  std::size_t random_budget = 40;  ///< proposals of the random strategy
  double min_effect = 0.02;
  std::optional<double> accuracy_tolerance;  ///< nullopt: the default
  bool check_accuracy = true;                ///< false: outputs are not compared at all
  std::string precision{};                   ///< of a PyTorch model: "fp32" (or ""), "auto", "fp16", "bf16"
  std::optional<double> metric_loss{};       ///< AccuracyGate::metric_loss; nullopt: the default
  std::uint64_t seed = 1;
  std::string also;       ///< --also: another form of the model that is a candidate: "onnx"; "": none
  std::string save_onnx;  ///< --save-onnx: a file for the exported model; "": not kept

  [[nodiscard]] RuntimeRequest where() const { return {ort_library, runtimes, plugins}; }
};
RL_DECLARE_JSON(TuneRequest)

}  // namespace ridgeline::schema
