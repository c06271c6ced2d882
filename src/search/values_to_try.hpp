// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "schema/param_def.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::search {

/// Whether the run is to try half precision in PyTorch (TuneRequest::precision).
[[nodiscard]] inline bool tries_half_precision(const SpaceInput& input) {
  return !input.precision.empty() && input.precision != "fp32";
}

/// Values of a parameter worth trying on this machine and model, ascending, legal, without the default; empty when
/// there are none.
[[nodiscard]] std::vector<schema::Value> values_to_try(const schema::ParamDef& param, const SpaceInput& input);

}  // namespace ridgeline::search
