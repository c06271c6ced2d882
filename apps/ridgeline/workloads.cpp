// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/workloads.hpp"

#include "execute/python_kind.hpp"
#include "ridgeline/python_packages.hpp"

namespace ridgeline::app {

workload::WorkloadRegistry known_workloads() {
  auto registry = workload::make_default_registry();
  registry.add(execute::make_python_kind(python_packages().value_or("")));
  return registry;
}

}  // namespace ridgeline::app
