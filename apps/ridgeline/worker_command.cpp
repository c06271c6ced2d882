// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "doctor/gather/library_facts.hpp"
#include "execute/stream_process.hpp"
#include "execute/worker_jobs.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/workloads.hpp"

namespace ridgeline::app {

void add_worker(CLI::App& app, Context& context) {
  const auto library = std::make_shared<std::string>();
  const auto is_stream = std::make_shared<bool>(false);
  auto* command = add_subcommand(app, context, "worker", "Runs trials for a parent process", "",
                                 [library, is_stream]() -> base::Result<int> {
                                   if (!library->empty()) return doctor::open_library_main(*library);
                                   if (*is_stream) return execute::stream_main(known_workloads());
                                   return execute::worker_main(known_workloads());
                                 });
  command->add_option("--open-library", *library, "Opens a shared library and reports the result")->type_name("FILE");
  command->add_flag("--stream", *is_stream, "Runs one pipeline");
  command->group("");  // hidden: started by ridgeline itself
}

}  // namespace ridgeline::app
