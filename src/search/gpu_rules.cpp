// SPDX-License-Identifier: Apache-2.0
#include "search/gpu_rules.hpp"

#include <algorithm>

#include "schema/execution_provider.hpp"
#include "search/model_facts.hpp"
#include "search/relevance.hpp"
#include "search/rule_condition.hpp"

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

bool switches_on(const Configuration& configuration, const char* key) {
  return configuration.get_or(key, false).as_bool();
}

bool runs_one_at_a_time(const Configuration& configuration) {
  return configuration.get_or("concurrent_runs", 1).as_integer(1) == 1;
}

bool is_host_io(const SpaceInput& input) { return !data_on_device(input); }

bool can_fix_dimensions(const SpaceInput& input) {
  return knows_model(input) && some_free_dimension_is_constant(input.model);
}

/// In a shape mix the dimensions that vary cannot be fixed, so whether a graph is captured is left to the trial.
/// Whoever pins the combination wants to see the runtime's own refusal, which names the nodes.
bool needs_fixed_dimensions(const SpaceInput& input) {
  const auto& fixed = input.request.fixed;
  const bool asked_for = fixed.contains("override_free_dimensions") && fixed.contains("enable_cuda_graph");
  return can_fix_dimensions(input) && !shapes_vary(input.model) && !asked_for;
}

/// Which settings may stand together, as data.
struct GpuRule {
  std::string_view text;  ///< for people
  bool (*allows)(const Configuration&);
  std::array<std::string_view, 3> keys;  ///< that it looks at; "" fills up
  RuleCondition where = {};
  std::array<std::string_view, 2> unless_asked = {};  ///< who asks for one of these may have what it forbids
};

constexpr std::string_view kGraph = "enable_cuda_graph";
constexpr std::string_view kTrtGraph = "trt_cuda_graph_enable";

constexpr std::array kRules{
    GpuRule{.text = "a CUDA graph needs execution_mode=sequential",
            .allows =
                [](const Configuration& c) {
                  return !replays_graph(c) || c.get_or("execution_mode", "sequential").as_text() == "sequential";
                },
            .keys = {kGraph, kTrtGraph, "execution_mode"}},
    GpuRule{.text = "a CUDA graph needs io_binding=device or stream",
            .allows = [](const Configuration& c) { return !replays_graph(c) || binds_device_memory(c); },
            .keys = {kGraph, kTrtGraph, "io_binding"},
            .where = {.about = is_host_io}},
    GpuRule{.text = "a CUDA graph is replayed by one thread at a time: concurrent_runs=1, parallel_sessions instead",
            .allows = [](const Configuration& c) { return !replays_graph(c) || runs_one_at_a_time(c); },
            .keys = {kGraph, kTrtGraph, "concurrent_runs"}},
    GpuRule{.text = "io_binding=stream is one stream for one run at a time: concurrent_runs=1",
            .allows = [](const Configuration& c) { return !binds_one_stream(c) || runs_one_at_a_time(c); },
            .keys = {"io_binding", "concurrent_runs"}},
    GpuRule{.text = "a CUDA graph needs ONNX Runtime's own arena: use_cuda_mempool=false",
            .allows =
                [](const Configuration& c) {
                  return !switches_on(c, "enable_cuda_graph") || !switches_on(c, "use_cuda_mempool");
                },
            .keys = {kGraph, "use_cuda_mempool"}},
    GpuRule{
        .text = "trt_profile_min_shapes, trt_profile_opt_shapes, trt_profile_max_shapes are set together or not at all",
        .allows =
            [](const Configuration& c) {
              const auto set = std::count_if(kTrtProfiles.begin(), kTrtProfiles.end(),
                                             [&](const char* key) { return sets(c, key); });
              return set == 0 || set == static_cast<std::ptrdiff_t>(kTrtProfiles.size());
            },
        .keys = {kTrtProfiles[0], kTrtProfiles[1], kTrtProfiles[2]}},
    // ONNX Runtime 1.29 frees page-locked memory within a CUDA callback now and then when it does not wait at the end
    // of an inference, and aborts with CUDA error 800: 10 of 312 trials on H200s, none of 581 with a graph. No release
    // is known to be free of it.
    GpuRule{.text = "io_binding=stream needs a CUDA graph: without one ONNX Runtime may abort (CUDA error 800)",
            .allows = [](const Configuration& c) { return !binds_one_stream(c) || replays_graph(c); },
            .keys = {kGraph, kTrtGraph, "io_binding"},
            .unless_asked = {"io_binding"}},
    // Recorded on H200s in 17 searches of all combinations of six models (268 pairs), the medians of a search's pairs:
    // stream takes 0.979 to 0.999 of the time with device. Copies, graph and waiting are one stream's work there.
    GpuRule{.text = "beside a CUDA graph io_binding=device is never faster than stream",
            .allows =
                [](const Configuration& c) {
                  return !switches_on(c, "enable_cuda_graph") || c.get_or("io_binding", "none").as_text() != "device";
                },
            .keys = {kGraph, "io_binding"},
            .where = {.compute_capability = {.since = "9.0"}, .about = is_host_io},
            .unless_asked = {"io_binding"}},
    // ONNX Runtime 1.29, cuDNN 9.14 and 9.19: 272 of 272 recorded trials of four models had wrong outputs or NaN
    // (tests/data/landscapes); beside prefer_nhwc none of as many. No release is known to be free of it.
    GpuRule{
        .text = "fuse_conv_bias needs prefer_nhwc: without it ONNX Runtime 1.29 computes wrong outputs",
        .allows =
            [](const Configuration& c) { return !switches_on(c, "fuse_conv_bias") || switches_on(c, "prefer_nhwc"); },
        .keys = {"fuse_conv_bias", "prefer_nhwc"},
        .unless_asked = {"fuse_conv_bias"}},
    // basic keeps the fusion and leaves out what the freed bias would be fused with.
    GpuRule{.text = "disable_specified_optimizers is tried with graph_optimization_level=all",
            .allows =
                [](const Configuration& c) {
                  return !c.contains("disable_specified_optimizers") || !c.contains("graph_optimization_level");
                },
            .keys = {"disable_specified_optimizers", "graph_optimization_level"},
            .unless_asked = {"graph_optimization_level", "disable_specified_optimizers"}},
    // A product of more than two dimensions is fused with its bias only where its shape is known.
    GpuRule{.text = "without override_free_dimensions there is no MatMulAddFusion to leave out",
            .allows =
                [](const Configuration& c) {
                  return !c.contains("disable_specified_optimizers") || switches_on(c, "override_free_dimensions");
                },
            .keys = {"disable_specified_optimizers", "override_free_dimensions"},
            .where = {.about = can_fix_dimensions},
            .unless_asked = {"disable_specified_optimizers"}},
    // The provider captures only graphs without an operator on the CPU.
    GpuRule{.text = "with enable_cuda_graph no operator runs on the CPU, so intra_op_num_threads=1 changes nothing",
            .allows =
                [](const Configuration& c) {
                  return !switches_on(c, "enable_cuda_graph") || c.get_or("intra_op_num_threads", 0).as_integer() != 1;
                },
            .keys = {kGraph, "intra_op_num_threads"},
            .unless_asked = {"intra_op_num_threads"}},
    // Shape arithmetic of symbolic dimensions runs on the CPU, which a graph cannot hold.
    GpuRule{.text = "a CUDA graph of a model with symbolic dimensions needs override_free_dimensions=true",
            .allows =
                [](const Configuration& c) { return !replays_graph(c) || switches_on(c, "override_free_dimensions"); },
            .keys = {kGraph, kTrtGraph, "override_free_dimensions"},
            .where = {.about = needs_fixed_dimensions}},
};

}  // namespace

bool asks_for(const SpaceRequest& request, std::string_view key) {
  return request.fixed.contains(std::string(key)) ||
         std::any_of(request.values.begin(), request.values.end(),
                     [&](const auto& dimension) { return dimension.key == key; });
}

std::vector<SpaceRule> gpu_rules(const SpaceInput& input) {
  if (!on_gpu(input)) return {};
  std::vector<SpaceRule> rules;
  for (const auto& row : kRules) {
    const bool asked = std::any_of(row.unless_asked.begin(), row.unless_asked.end(),
                                   [&](std::string_view key) { return asks_for(input.request, key); });
    if (asked || !holds(row.where, input)) continue;
    auto& rule = rules.emplace_back(SpaceRule{std::string(row.text), row.allows});
    for (const auto key : row.keys)
      if (!key.empty()) rule.keys.emplace_back(key);
  }
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
