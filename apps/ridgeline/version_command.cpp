// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "ridgeline/commit.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/worker_options.hpp"

namespace ridgeline::app {

void add_version(CLI::App& app, Context& context) {
  auto library = std::make_shared<std::string>();
  auto* command = add_subcommand(app, context, "version", "Versions of Ridgeline and of the runtime it would use",
                                 "  ridgeline version", [library]() -> base::Result<int> {
                                   fmt::print("ridgeline    {}\n", version_text());
                                   const auto executor = make_executor(execute::Isolation::trial, {}, {});
                                   const auto runtime = execute::probe(*executor, "onnx", *library);
                                   if (!runtime && !library->empty())
                                     return tl::unexpected<base::Error>(runtime.error());
                                   if (!runtime) {
                                     fmt::print("onnxruntime  none: {}\n", base::error_line(runtime.error()));
                                     return kOk;
                                   }
                                   fmt::print("onnxruntime  {}  {}\n", runtime->version, runtime->library_path);
                                   std::string providers;
                                   for (const auto& name : runtime->providers)
                                     providers += (providers.empty() ? "" : ", ") + name;
                                   fmt::print("providers    {}\n", providers);
                                   return kOk;
                                 });
  command->add_option("--ort-library", *library, "ONNX Runtime library, file or folder")->type_name("PATH");
}

}  // namespace ridgeline::app
