// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/json.hpp"
#include "schema/configuration.hpp"

namespace ridgeline::schema {

/// What the runtime makes of a model before it runs it: nodes fused, folded and removed.
struct RuntimeGraph {
  std::string level;        ///< graph_level() of the configurations it stands for
  std::int64_t nodes = 0;   ///< subgraphs included
  double memory_bytes = 0;  ///< an inference of ModelDescription::shapes; counted as ModelDescription::min_bytes
  std::string left_out;     ///< disable_specified_optimizers of the configurations it stands for

  [[nodiscard]] bool stands_for(const Configuration& configuration) const;
};
RL_DECLARE_JSON(RuntimeGraph)

/// The configuration's graph_optimization_level as far as it decides what is fused: "disable_all", "basic", or
/// "extended" for that and above, as the levels above change the layout of tensors.
[[nodiscard]] std::string graph_level(const Configuration& configuration);

/// Its disable_specified_optimizers; "" at level disable_all, where no rewrite is left to leave out.
[[nodiscard]] std::string left_out_rewrites(const Configuration& configuration);

}  // namespace ridgeline::schema
