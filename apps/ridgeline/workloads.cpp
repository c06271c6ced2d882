// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/workloads.hpp"

#include "base/file.hpp"
#include "execute/python_kind.hpp"
#include "ridgeline/python_packages.hpp"
#include "workload/torch/torch_code.hpp"

namespace ridgeline::app {

workload::WorkloadRegistry known_workloads() {
  auto registry = workload::make_default_registry();
  registry.add(execute::make_python_kind(python_packages().value_or("")));
  return registry;
}

std::unique_ptr<execute::PythonForkServer> python_fork_server(const schema::WorkloadRef& workload,
                                                              const std::string& python_exe) {
  if (workload.kind != workload::kPythonKind) return nullptr;
  const auto python = base::find_program(python_exe.empty() ? "python3" : python_exe);
  const auto packages = python_packages();
  if (python.empty() || !packages) return nullptr;
  return std::make_unique<execute::PythonForkServer>(python, *packages, workload.location);
}

}  // namespace ridgeline::app
