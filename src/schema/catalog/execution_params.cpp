// SPDX-License-Identifier: Apache-2.0
// Levers that are Ridgeline's own: how many inferences run side by side and how large each is.
#include "schema/catalog.hpp"

namespace ridgeline::schema {

std::vector<ParamDef> execution_params() {
  using enum ParamScope;
  using enum ParamType;
  return {
      {.key = "parallel_sessions",
       .target = "parallel_sessions",
       .scope = execution,
       .type = integer,
       .minimum = 1,
       .maximum = 256,
       .default_value = 1,
       .summary = "sessions of the same model that serve requests side by side in one process",
       .when = "objective throughput; pairs with fewer threads a session",
       .hazard = "every session holds its own activations and, on most providers, its own weights"},
      {.key = "batch_size",
       .target = "batch_size",
       .scope = execution,
       .type = integer,
       .minimum = 1,
       .maximum = 65536,
       .default_value = 1,
       .summary = "items in one inference",
       .when = "objective throughput and a dynamic batch dimension",
       .hazard = "latency and memory grow with it"},
  };
}

}  // namespace ridgeline::schema
