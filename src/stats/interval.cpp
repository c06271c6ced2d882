// SPDX-License-Identifier: Apache-2.0
#include "stats/interval.hpp"

namespace ridgeline::stats {

RL_DEFINE_JSON(Estimate, value, low, high)

}  // namespace ridgeline::stats
