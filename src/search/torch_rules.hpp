// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "search/space_builder.hpp"

namespace ridgeline::search {

/// Which settings of PyTorch go together. Empty where it is not what is tuned.
[[nodiscard]] std::vector<SpaceRule> torch_rules(const SpaceInput& input);

}  // namespace ridgeline::search
