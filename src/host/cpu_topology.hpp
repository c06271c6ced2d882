// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/system_files.hpp"

namespace ridgeline::host {

/// The processors of the machine and which of them this process may use.
struct CpuTopology {
  std::string model;  ///< "" when /proc/cpuinfo does not say
  int online = 0;
  std::vector<int> affinity;
  int usable_cores = 0;  ///< distinct physical cores behind `affinity`; every CPU counts as one when unknown
  std::vector<std::vector<int>> core_siblings;  ///< usable CPUs by core, cores by NUMA node; empty when unknown
  std::optional<bool> smt;
  std::optional<std::string> governor;
  std::vector<std::string> isa;  ///< extensions that inference kernels care about
  int numa_nodes = 1;
};

[[nodiscard]] CpuTopology read_cpu_topology(const SystemFiles& files);

}  // namespace ridgeline::host
