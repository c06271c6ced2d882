// SPDX-License-Identifier: Apache-2.0
#include "execute/executor.hpp"
#include "ridgeline/subcommand.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::app {

void add_worker(CLI::App& app, Context& context) {
  auto* command = add_subcommand(app, context, "worker", "Runs trials for a parent process", "", []() -> base::Result<int> {
    return execute::worker_main(workload::make_default_registry());
  });
  command->group("");   // hidden: started by ridgeline itself
}

}  // namespace ridgeline::app
