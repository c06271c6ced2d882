// SPDX-License-Identifier: Apache-2.0
#include "search/cpu_budget.hpp"

#include <algorithm>
#include <cmath>

namespace ridgeline::search {

CpuBudget cpu_budget(const schema::Environment& environment) {
  CpuBudget budget;
  const int in_mask = static_cast<int>(environment.affinity.size());
  budget.logical = std::max(1, in_mask > 0 ? in_mask : environment.logical_cpus);
  budget.physical =
      std::clamp(environment.physical_cores > 0 ? environment.physical_cores : budget.logical, 1, budget.logical);
  const double usable = environment.usable_cpus > 0 ? environment.usable_cpus : budget.logical;
  budget.usable = std::clamp(static_cast<int>(std::ceil(usable - 1e-6)), 1, budget.logical);
  budget.smt = budget.logical > budget.physical;
  return budget;
}

}  // namespace ridgeline::search
