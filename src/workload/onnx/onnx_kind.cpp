// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/onnx_kind.hpp"

#include "workload/onnx/decoded_images.hpp"
#include "workload/onnx/model_inspector.hpp"
#include "workload/onnx/model_profiler.hpp"
#include "workload/onnx/ort_plugins.hpp"
#include "workload/onnx/ort_stream_model.hpp"
#include "workload/onnx/ort_workload.hpp"
#include "workload/onnx/runtime_graph.hpp"

namespace ridgeline::workload {
namespace {

schema::RuntimeSearch find(const schema::RuntimeRequest& request) {
  return find_runtimes(request, OrtSearchEnvironment::of_this_process());
}

base::Result<schema::RuntimeIdentity> probe_onnx(const std::string& library_flag,
                                                 const std::vector<schema::PluginLibrary>& plugins) {
  const auto environment = OrtSearchEnvironment::of_this_process();
  RL_TRY_ASSIGN(auto library, OrtLibrary::open(library_flag, environment));
  RL_TRY_ASSIGN(auto identity, library.identity(environment));
  identity.plugins = plugins;
  if (plugins.empty()) return identity;
  RL_TRY_ASSIGN(const auto registered_with, OrtEnvironment::create(std::move(library)));
  ask_plugins(*registered_with, identity.plugins, environment);
  return identity;
}

base::Result<std::unique_ptr<Workload>> make(const schema::TrialSpec& spec) {
  return make_ort_workload(spec, OrtSearchEnvironment::of_this_process());
}

base::Result<schema::RuntimeGraph> runtime_graph(const schema::TrialSpec& spec) {
  return read_runtime_graph(spec, OrtSearchEnvironment::of_this_process());
}

base::Result<schema::ProfiledModel> profile(const schema::TrialSpec& spec, const schema::ProfilePlan& plan,
                                            const std::string& folder) {
  return profile_onnx_model(spec, plan, folder, OrtSearchEnvironment::of_this_process());
}

base::Result<std::unique_ptr<StreamModel>> stream_model(const StreamModelRequest& request) {
  return make_ort_stream_model(request, OrtSearchEnvironment::of_this_process());
}

}  // namespace

WorkloadKind make_onnx_kind() {
  return {.name = "onnx",
          .inspect = inspect_onnx_model,
          .find = find,
          .probe = probe_onnx,
          .make = make,
          .runtime_graph = runtime_graph,
          .profile = profile,
          .stream_model = stream_model,
          .decoded_images = [] { return make_decoded_images(); },
          .reference = {{"graph_optimization_level", "disable_all"},
                        {"intra_op_num_threads", 1},
                        {"use_deterministic_compute", true}},
          .gpu_reference = {
              {"graph_optimization_level", "basic"}, {"use_tf32", false}, {"use_deterministic_compute", true}}};
}

}  // namespace ridgeline::workload
