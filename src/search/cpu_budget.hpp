// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/environment.hpp"

namespace ridgeline::search {

/// The cores a process may really use, in whole threads; every field at least 1.
struct CpuBudget {
  int usable = 1;    ///< threads that can run at once: affinity and cgroup quota, a part of a core counted as one
  int physical = 1;  ///< physical cores within the affinity mask: the runtime's automatic thread count
  int logical = 1;   ///< logical CPUs within the affinity mask
  bool smt = false;
};

[[nodiscard]] CpuBudget cpu_budget(const schema::Environment& environment);

}  // namespace ridgeline::search
