// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/ranges.h>

#include "execute/found_runtimes.hpp"
#include "execute/local_environment.hpp"
#include "ridgeline/commit.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/worker_options.hpp"

namespace ridgeline::app {

void add_version(CLI::App& app, Context& context) {
  auto library = std::make_shared<std::string>();
  auto* command =
      add_subcommand(app, context, "version", "Print the versions of Ridgeline and of the runtime it would use",
                     "  ridgeline version", [library]() -> base::Result<int> {
                       fmt::print("ridgeline    {}\n", version_text());
                       const auto executor = make_executor(execute::Isolation::trial, {}, {});
                       RL_TRY_ASSIGN(auto found, execute::FoundRuntimes::find(*executor, "onnx", {*library, {}, {}}));
                       const auto chosen = found.choose("", execute::local_environment());
                       if (!chosen && !library->empty()) return tl::unexpected<base::Error>(chosen.error());
                       if (!chosen) {
                         fmt::print("onnxruntime  none: {}\n", base::error_line(chosen.error()));
                         return kOk;
                       }
                       const auto& runtime = chosen->runtime;
                       fmt::print("onnxruntime  {}  {}\n", runtime.version, runtime.library_path);
                       fmt::print("providers    {}\n", fmt::join(runtime.providers, ", "));
                       return kOk;
                     });
  command->add_option("--ort-library", *library, "ONNX Runtime library, file or folder")->type_name("PATH");
}

}  // namespace ridgeline::app
