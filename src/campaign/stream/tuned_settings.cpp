// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/tuned_settings.hpp"

#include "campaign/line_of.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::campaign {
namespace {

constexpr std::string_view kOnnx = "onnx";
constexpr std::string_view kOnnxRuntime = "onnxruntime";

bool concerns_a_pipeline(schema::ParamScope scope) {
  switch (scope) {
    case schema::ParamScope::session_option:
    case schema::ParamScope::session_config:
    case schema::ParamScope::provider_option:
    case schema::ParamScope::run_option: return true;
    default: return false;
  }
}

void take_configuration(const schema::Configuration& recommended, TunedSettings& out) {
  const auto configuration = schema::without_candidate(recommended);
  for (const auto& [key, value] : configuration.values()) {
    const auto* param = schema::find_param(key);
    if (param != nullptr && concerns_a_pipeline(param->scope))
      out.configuration.set(key, value);
    else
      out.left_out.push_back(fmt::format("{}={}", key, value.to_text()));
  }
}

}  // namespace

base::Result<TunedSettings> tuned_settings(const schema::TuneRun& run) {
  if (!run.verdict || run.verdict->decision == schema::Decision::none)
    return base::fail(base::ErrorCode::invalid_argument, "--settings {}: the run has no recommendation{}{}", run.id,
                      run.verdict ? ": " : "", run.verdict ? line_of(run.verdict->reason) : "")
        .hint("see why: ridgeline show {}", run.id);
  const auto& recommended = run.verdict->configuration;
  const auto id = schema::candidate_of(recommended);
  const auto* candidate = id.empty() ? nullptr : schema::find_candidate(run.candidates, id);
  if (!id.empty() && candidate == nullptr)
    return base::fail(base::ErrorCode::corrupt, "--settings {}: the run does not hold what it recommends, {}", run.id,
                      id);
  const auto& workload = candidate != nullptr && candidate->workload ? *candidate->workload : run.workload;
  const auto& runtime = candidate != nullptr ? candidate->runtime : run.runtime;
  if (workload.kind != kOnnx || runtime.name != kOnnxRuntime)
    return base::fail(base::ErrorCode::invalid_argument,
                      "--settings {}: it recommends {} for {}; a pipeline runs ONNX models in ONNX Runtime", run.id,
                      candidate != nullptr ? candidate->name() : runtime.name, run.workload.location)
        .hint("name a run of ridgeline tune on an ONNX file");
  TunedSettings out;
  out.run_id = run.id;
  out.model = workload.location;
  out.content_sha256 = workload.content_sha256;
  out.provider = candidate != nullptr ? candidate->provider : run.provider;
  out.where.library = runtime.library_path;
  const auto& plugin = candidate != nullptr ? candidate->plugin : run.plugin;
  if (plugin) out.where.plugins.push_back({plugin->library_path, plugin->ep_name, "", {}});
  take_configuration(recommended, out);
  return out;
}

schema::Configuration settings_for_provider(const schema::Configuration& configuration, const std::string& provider) {
  schema::Configuration out;
  for (const auto& [key, value] : configuration.values()) {
    const auto* param = schema::find_param(key);
    if (param == nullptr || param->providers.empty() || schema::is_for(*param, provider)) out.set(key, value);
  }
  return out;
}

std::vector<std::string> take_out_graphs(schema::Configuration& configuration) {
  std::vector<std::string> taken;
  for (const auto* key : {"trt_cuda_graph_enable", "nv_cuda_graph"}) {
    if (!configuration.get_or(key, false).as_bool()) continue;
    configuration.unset(key);
    taken.push_back(fmt::format("{}=true", key));
  }
  configuration.unset("gpu_graph_id");  // the pipeline numbers its graphs
  return taken;
}

}  // namespace ridgeline::campaign
