// SPDX-License-Identifier: Apache-2.0
#include "search/gpu_rules.hpp"

#include <algorithm>

#include "schema/execution_provider.hpp"
#include "search/model_facts.hpp"
#include "search/relevance.hpp"

namespace ridgeline::search {
namespace {

using schema::Configuration;
using schema::Value;

bool binds_device_memory(const Configuration& configuration) {
  const auto* binding = configuration.find("io_binding");
  return binding != nullptr && (binding->as_text() == "device" || binding->as_text() == "stream");
}

bool binds_one_stream(const Configuration& configuration) {
  const auto* binding = configuration.find("io_binding");
  return binding != nullptr && binding->as_text() == "stream";
}

bool is_host_side(const Value& binding) { return binding.as_text() == "none" || binding.as_text() == "pinned"; }

bool sets(const Configuration& configuration, const char* key) {
  return !configuration.get_or(key, "").as_text().empty();
}

}  // namespace

bool asks_for(const SpaceRequest& request, const std::string& key) {
  return request.fixed.contains(key) || std::any_of(request.values.begin(), request.values.end(),
                                                    [&](const auto& dimension) { return dimension.key == key; });
}

std::vector<SpaceRule> gpu_rules(const SpaceInput& input) {
  if (!on_gpu(input)) return {};
  const std::vector<std::string> graph_keys{"enable_cuda_graph", "trt_cuda_graph_enable"};
  const auto keys = [&](const char* other) {
    auto all = graph_keys;
    all.emplace_back(other);
    return all;
  };
  std::vector<SpaceRule> rules;
  rules.push_back({"a CUDA graph needs execution_mode=sequential",
                   [](const Configuration& configuration) {
                     return !replays_graph(configuration) || !configuration.contains("execution_mode") ||
                            configuration.find("execution_mode")->as_text() == "sequential";
                   },
                   keys("execution_mode")});
  if (!data_on_device(input))
    rules.push_back({"a CUDA graph needs io_binding=device or stream",
                     [](const Configuration& configuration) {
                       return !replays_graph(configuration) || binds_device_memory(configuration);
                     },
                     keys("io_binding")});
  rules.push_back({"a CUDA graph is replayed by one thread at a time: concurrent_runs=1, parallel_sessions instead",
                   [](const Configuration& configuration) {
                     return !replays_graph(configuration) ||
                            configuration.get_or("concurrent_runs", 1).as_integer(1) == 1;
                   },
                   keys("concurrent_runs")});
  rules.push_back({"io_binding=stream is one stream for one run at a time: concurrent_runs=1",
                   [](const Configuration& configuration) {
                     return !binds_one_stream(configuration) ||
                            configuration.get_or("concurrent_runs", 1).as_integer(1) == 1;
                   },
                   {"io_binding", "concurrent_runs"}});
  rules.push_back({"a CUDA graph needs ONNX Runtime's own arena: use_cuda_mempool=false",
                   [](const Configuration& configuration) {
                     return !configuration.get_or("enable_cuda_graph", false).as_bool() ||
                            !configuration.get_or("use_cuda_mempool", false).as_bool();
                   },
                   {"enable_cuda_graph", "use_cuda_mempool"}});
  rules.push_back({fmt::format("{} are set together or not at all", fmt::join(kTrtProfiles, ", ")),
                   [](const Configuration& configuration) {
                     const auto set = std::count_if(kTrtProfiles.begin(), kTrtProfiles.end(),
                                                    [&](const char* key) { return sets(configuration, key); });
                     return set == 0 || set == static_cast<std::ptrdiff_t>(kTrtProfiles.size());
                   },
                   std::vector<std::string>(kTrtProfiles.begin(), kTrtProfiles.end())});
  // ONNX Runtime 1.29 frees page-locked memory within a CUDA callback now and then when it does not wait at the end of
  // an inference, and aborts with CUDA error 800: 10 of 312 trials on H200s, none of 581 with a graph. Who asks for it
  // may have it.
  if (!asks_for(input.request, "io_binding"))
    rules.push_back({"io_binding=stream needs a CUDA graph: without one ONNX Runtime may abort (CUDA error 800)",
                     [](const Configuration& configuration) {
                       return !binds_one_stream(configuration) || replays_graph(configuration);
                     },
                     keys("io_binding")});
  // Recorded on H200s in 17 searches of all combinations of six models (268 pairs), the medians of a search's pairs:
  // stream takes 0.979 to 0.999 of the time with device. Copies, graph and waiting are one stream's work there.
  if (!data_on_device(input) && !asks_for(input.request, "io_binding"))
    rules.push_back({"beside a CUDA graph io_binding=device is never faster than stream",
                     [](const Configuration& configuration) {
                       return !configuration.get_or("enable_cuda_graph", false).as_bool() ||
                              configuration.get_or("io_binding", "none").as_text() != "device";
                     },
                     {"enable_cuda_graph", "io_binding"}});
  // ONNX Runtime 1.29, cuDNN 9.14 and 9.19: 272 of 272 recorded trials of four models had wrong outputs or NaN
  // (tests/data/landscapes); beside prefer_nhwc none of as many.
  if (!asks_for(input.request, "fuse_conv_bias"))
    rules.push_back({"fuse_conv_bias needs prefer_nhwc: without it ONNX Runtime 1.29 computes wrong outputs",
                     [](const Configuration& configuration) {
                       return !configuration.get_or("fuse_conv_bias", false).as_bool() ||
                              configuration.get_or("prefer_nhwc", false).as_bool();
                     },
                     {"fuse_conv_bias", "prefer_nhwc"}});
  // basic keeps the fusion and leaves out what the freed bias would be fused with.
  if (!asks_for(input.request, "graph_optimization_level") && !asks_for(input.request, "disable_specified_optimizers"))
    rules.push_back({"disable_specified_optimizers is tried with graph_optimization_level=all",
                     [](const Configuration& configuration) {
                       return !configuration.contains("disable_specified_optimizers") ||
                              !configuration.contains("graph_optimization_level");
                     },
                     {"disable_specified_optimizers", "graph_optimization_level"}});
  // A product of more than two dimensions is fused with its bias only where its shape is known.
  if (knows_model(input) && some_free_dimension_is_constant(input.model) &&
      !asks_for(input.request, "disable_specified_optimizers"))
    rules.push_back({"without override_free_dimensions there is no MatMulAddFusion to leave out",
                     [](const Configuration& configuration) {
                       return !configuration.contains("disable_specified_optimizers") ||
                              configuration.get_or("override_free_dimensions", false).as_bool();
                     },
                     {"disable_specified_optimizers", "override_free_dimensions"}});
  // The provider captures only graphs without an operator on the CPU.
  if (!asks_for(input.request, "intra_op_num_threads"))
    rules.push_back({"with enable_cuda_graph no operator runs on the CPU, so intra_op_num_threads=1 changes nothing",
                     [](const Configuration& configuration) {
                       return !configuration.get_or("enable_cuda_graph", false).as_bool() ||
                              configuration.get_or("intra_op_num_threads", 0).as_integer() != 1;
                     },
                     {"enable_cuda_graph", "intra_op_num_threads"}});
  // Shape arithmetic of symbolic dimensions runs on the CPU, which a graph cannot hold. In a shape mix the dimensions
  // that vary cannot be fixed, so whether it captures is left to the trial.
  // Whoever pins the combination wants to see the runtime's own refusal, which names the nodes.
  const auto& fixed = input.request.fixed;
  const bool asked_for = fixed.contains("override_free_dimensions") && fixed.contains("enable_cuda_graph");
  if (knows_model(input) && some_free_dimension_is_constant(input.model) && !shapes_vary(input) && !asked_for)
    rules.push_back({"a CUDA graph of a model with symbolic dimensions needs override_free_dimensions=true",
                     [](const Configuration& configuration) {
                       return !replays_graph(configuration) ||
                              configuration.get_or("override_free_dimensions", false).as_bool();
                     },
                     keys("override_free_dimensions")});
  return rules;
}

std::vector<std::string> gpu_rules_about(const std::string& key) {
  SpaceInput input;
  input.provider = schema::usual_gpu_provider().id;
  input.model.nodes = 1;
  auto& tensor = input.model.inputs.emplace_back();
  tensor.name = "x";
  tensor.dims = {-1};
  tensor.dim_names = {"batch"};
  input.model.shapes = {{{"x", {1}}}};
  std::vector<std::string> texts;
  for (const auto& rule : gpu_rules(input))
    if (std::find(rule.keys.begin(), rule.keys.end(), key) != rule.keys.end()) texts.push_back(rule.text);
  return texts;
}

base::Result<void> check_io_request(const SpaceInput& input) {
  if (!data_on_device(input)) return {};
  std::vector<Value> asked;
  for (const auto& dimension : input.request.values)
    if (dimension.key == "io_binding") asked = dimension.values;
  if (const auto* pinned = input.request.fixed.find("io_binding")) asked.push_back(*pinned);
  const auto wrong = std::find_if(asked.begin(), asked.end(), is_host_side);
  if (wrong == asked.end()) return {};
  return base::fail(base::ErrorCode::invalid_argument,
                    "io_binding={} reads host memory, but with --io device the data stays on the GPU; expected device "
                    "or stream, or --io host",
                    wrong->to_text());
}

}  // namespace ridgeline::search
