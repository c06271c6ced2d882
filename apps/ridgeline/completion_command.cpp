// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "ridgeline/completion_script.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

void add_completion(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  auto* command = add_subcommand(
      app, context, "completion", "Print a completion script for bash or zsh",
      "  source <(ridgeline completion bash)\n"
      "  ridgeline completion zsh > ~/.zfunc/_ridgeline",
      [shell, &app, &context]() -> base::Result<int> {
        fmt::print("{}", *shell == "bash" ? bash_completion(app, context) : zsh_completion(app, context));
        return kOk;
      });
  add_choice(*command, context, "SHELL", *shell, {"bash", "zsh"}, "bash or zsh");
  command->get_option("SHELL")->required();
}

}  // namespace ridgeline::app
