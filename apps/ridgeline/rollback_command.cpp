// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "config/config_patch.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

void add_rollback(CLI::App& app, Context& context) {
  auto config = std::make_shared<std::string>();
  auto yes = std::make_shared<bool>(false);
  auto* command = add_subcommand(
      app, context, "rollback", "Restore config.yaml as it was before the last change",
      "  ridgeline rollback --config config.yaml", [config, yes]() -> base::Result<int> {
        RL_TRY_ASSIGN(const auto backup,
                      config::rollback(*config, *yes ? config::LaterEdits::lose : config::LaterEdits::refuse));
        fmt::print("{}: restored from {}\n", *config, config::backup_text(*config, backup));
        return kOk;
      });
  command->add_option("--config", *config, "YAML file to restore")->type_name("FILE")->required();
  add_database_option(*command, context);  // backups are files: taken, as every command beside it takes it
  command->add_flag("-y,--yes", *yes, "Restore even if the file was edited since; discards those edits");
}

}  // namespace ridgeline::app
