// SPDX-License-Identifier: Apache-2.0
#include "schema/runtime_graph.hpp"

namespace ridgeline::schema {

std::string graph_level(const Configuration& configuration) {
  std::string level(configuration.get_or("graph_optimization_level", "all").as_text());
  return level == "basic" || level == "disable_all" ? level : "extended";
}

}  // namespace ridgeline::schema
