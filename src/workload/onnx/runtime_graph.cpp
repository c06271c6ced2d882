// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/runtime_graph.hpp"

#include <exception>
#include <filesystem>
#include <string>

#include "base/scratch_folder.hpp"
#include "workload/onnx/free_dimensions.hpp"
#include "workload/onnx/graph_shapes.hpp"
#include "workload/onnx/model_census.hpp"
#include "workload/onnx/model_cost.hpp"
#include "workload/onnx/model_file.hpp"
#include "workload/onnx/ort_caller.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_providers.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

/// Results of unknown shape count nothing; with more of them than this share of the nodes the sum says little.
constexpr double kMostShapeless = 0.05;

base::Result<schema::RuntimeGraph> count(const std::filesystem::path& path, const schema::WorkloadRef& workload) {
  RL_TRY_ASSIGN(const auto file, load_model_file(path));
  schema::ModelDescription description;
  take_census(file.model, description);
  description.shapes = workload.shapes;
  for (const auto& shapes : workload.shapes) {
    std::string first;
    const auto report = infer_shapes(file.model, shapes, [&](const TypedNode& node) {
      if (first.empty() && !node.outputs.empty() && !concrete_dims(node.outputs.front()))
        first = fmt::format("{} \"{}\"", operator_name(node.node), node.node.name());
    });
    if (static_cast<double>(report.shapeless_nodes) > kMostShapeless * static_cast<double>(description.nodes))
      return base::fail(ErrorCode::internal,
                        "{} of {} nodes of the runtime's graph have results of unknown shape, from {} on",
                        report.shapeless_nodes, description.nodes, first);
  }
  estimate_cost(file.model, description);
  return schema::RuntimeGraph{{}, description.nodes, description.min_bytes, {}};
}

}  // namespace

base::Result<schema::RuntimeGraph> read_runtime_graph(const schema::TrialSpec& spec,
                                                      const OrtSearchEnvironment& search) {
  if (const auto& provider = schema::provider_of(spec.provider); provider.compiles_graph || provider.own_threads)
    return base::fail(ErrorCode::unsupported, "provider {} compiles the graph into nodes that cannot be read",
                      spec.provider);
  const auto level = schema::graph_level(spec.configuration);
  schema::Configuration configuration;
  configuration.set("graph_optimization_level", level);
  const auto left_out = schema::left_out_rewrites(spec.configuration);
  if (!left_out.empty()) configuration.set("disable_specified_optimizers", left_out);
  RL_TRY_ASSIGN(auto library, OrtLibrary::open(spec.runtime.library_path, search));
  RL_TRY_ASSIGN(const auto environment, OrtEnvironment::create(std::move(library)));
  RL_TRY(check_provider(environment->library(), spec.provider));
  const base::ScratchFolder folder("graph");
  if (folder.path().empty())
    return base::fail(ErrorCode::io, "no temporary folder can be made").hint("set TMPDIR to a writable folder");
  SessionExtras extras;
  extras.optimized_model = (folder.path() / "graph.onnx").string();
  extras.free_dimensions = free_dimensions(spec.workload, 0);
  RL_TRY_ASSIGN(const auto settings, SessionSettings::make(*environment, configuration, spec.provider, extras));
  RL_TRY(OrtCaller::create(*environment, spec.workload.location, settings));
  try {
    RL_TRY_ASSIGN(auto graph, count(extras.optimized_model, spec.workload));
    graph.level = level;
    graph.left_out = left_out;
    return graph;
  } catch (const std::exception& error) {  // protobuf and libonnx throw
    return base::fail(ErrorCode::internal, "the runtime's graph could not be read: {}", error.what());
  }
}

}  // namespace ridgeline::workload
