// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "campaign/config_patch.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

void add_rollback(CLI::App& app, Context& context) {
  auto config = std::make_shared<std::string>();
  auto* command = add_subcommand(app, context, "rollback", "Put back the config.yaml that was there before the last change",
                                 "  ridgeline rollback --config config.yaml", [config]() -> base::Result<int> {
                                   RL_TRY_ASSIGN(const auto backup, campaign::rollback(*config));
                                   fmt::print("{}: restored from {}\n", *config, backup.filename().string());
                                   return kOk;
                                 });
  command->add_option("--config", *config, "YAML file to restore")->type_name("FILE")->required();
}

}  // namespace ridgeline::app
