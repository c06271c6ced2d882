// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/exported_model.hpp"
#include "schema/found_runtime.hpp"
#include "schema/model_description.hpp"
#include "schema/profiled_model.hpp"
#include "schema/runtime_graph.hpp"
#include "schema/trial_spec.hpp"
#include "stream/device_images.hpp"
#include "workload/ahead_request.hpp"
#include "workload/stream_model.hpp"
#include "workload/workload.hpp"

namespace ridgeline::workload {

/// What inspect needs beside the location: the user's shapes and inputs.
struct InspectRequest {
  schema::WorkloadRef workload;  ///< shapes as given by the user (may be empty or partial: per input), seed, files
  std::string runtime_library;   ///< --ort-library, or ""
  /// In the place of the usual length of axes whose size nothing but a guess gives; nullopt: the usual one.
  std::optional<std::int64_t> length{};
};

/// One kind of workload ("onnx", "synthetic").
struct WorkloadKind {
  std::string name;
  /// Reads the model without running it.
  std::function<base::Result<schema::ModelDescription>(const InspectRequest&)> inspect;
  /// The runtimes on this machine by their files, nothing loaded; null: the kind has one, whose library is "".
  std::function<schema::RuntimeSearch(const schema::RuntimeRequest&)> find{};
  /// Loads the runtime, registers the plug-ins with it and says what it is; `library` is --ort-library or "".
  std::function<base::Result<schema::RuntimeIdentity>(const std::string& library,
                                                      const std::vector<schema::PluginLibrary>& plugins)>
      probe;
  std::function<base::Result<std::unique_ptr<Workload>>(const schema::TrialSpec&)> make;
  /// Null: the kind cannot.
  std::function<AheadStates(const AheadRequest&)> prepare_ahead{};
  /// The model as ONNX files in a folder that is there, in each of these precisions (ExportedModel::precision);
  /// `library`: of the run's runtime; `limit_s`: for each. Null: it is one, or cannot be.
  std::function<std::vector<schema::ExportedModel>(const schema::WorkloadRef&, const std::string& library,
                                                   const std::string& folder,
                                                   const std::vector<std::string>& precisions, double limit_s)>
      export_models{};
  /// The clock() of the workloads of a spec; null: the system's.
  std::function<const base::Clock*(const schema::TrialSpec&)> clock{};
  /// What the runtime makes of the spec's model before it runs it; null: the kind has no such thing.
  std::function<base::Result<schema::RuntimeGraph>(const schema::TrialSpec&)> runtime_graph{};
  /// Where the time of the spec's model goes; files go to `folder`, which is there. Null: nobody knows.
  std::function<base::Result<schema::ProfiledModel>(const schema::TrialSpec&, const schema::ProfilePlan&,
                                                    const std::string& folder)>
      profile{};
  /// The spec's model as the stage of a stream; null: the kind cannot be one.
  std::function<base::Result<std::unique_ptr<StreamModel>>(const StreamModelRequest&)> stream_model{};
  /// GPU memory for frames that are decoded where the models run; null: they run on no GPU.
  std::function<base::Result<std::shared_ptr<stream::DeviceImages>>()> decoded_images{};
  /// Settings of the most trustworthy numerics (no graph rewriting, one thread, deterministic): the accuracy reference.
  schema::Configuration reference;
  /// The same for the GPU (full FP32, little rewriting, deterministic): for models that one CPU thread is too slow for.
  schema::Configuration gpu_reference;
};

/// The kinds a worker can run. Built in main, passed down; no global.
class WorkloadRegistry {
 public:
  void add(WorkloadKind kind) { kinds_.insert_or_assign(kind.name, std::move(kind)); }
  /// Error names the known kinds.
  [[nodiscard]] base::Result<const WorkloadKind*> find(const std::string& name) const;

 private:
  std::map<std::string, WorkloadKind> kinds_;
};

/// "onnx" and "synthetic".
[[nodiscard]] WorkloadRegistry make_default_registry();

}  // namespace ridgeline::workload
