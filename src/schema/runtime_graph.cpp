// SPDX-License-Identifier: Apache-2.0
#include "schema/runtime_graph.hpp"

namespace ridgeline::schema {

std::string graph_level(const Configuration& configuration) {
  std::string level(configuration.get_or("graph_optimization_level", "all").as_text());
  return level == "basic" || level == "disable_all" ? level : "extended";
}

std::string left_out_rewrites(const Configuration& configuration) {
  if (graph_level(configuration) == "disable_all") return "";
  return std::string(configuration.get_or("disable_specified_optimizers", "").as_text());
}

bool RuntimeGraph::stands_for(const Configuration& configuration) const {
  return level == graph_level(configuration) && left_out == left_out_rewrites(configuration);
}

RL_DEFINE_JSON(RuntimeGraph, level, nodes, memory_bytes, left_out)

}  // namespace ridgeline::schema
