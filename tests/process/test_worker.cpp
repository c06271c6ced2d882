// SPDX-License-Identifier: Apache-2.0
// A worker with the default workloads, so that the process tests do not need the whole program.
#include "execute/executor.hpp"

int main() {
  const auto registry = ridgeline::workload::make_default_registry();
  return ridgeline::execute::worker_main(registry);
}
