// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/file.hpp"
#include "campaign/space_file.hpp"
#include "ridgeline/apply_changes.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {
namespace {

struct Flags {
  std::string run;
  std::string config;
  std::string section = "onnxruntime";
  std::string space;
  bool dry_run = false;
  bool provenance = false;
  bool yes = false;
};

base::Result<int> apply(const Flags& flags, const Context& context) {
  if (!flags.dry_run) RL_TRY(campaign::check_patchable(flags.config));
  RL_TRY_ASSIGN(auto store, context.open_store());
  RL_TRY_ASSIGN(const auto run, store.load_run(flags.run));
  if (!run.verdict || run.verdict->decision == schema::Decision::none)
    return base::fail(base::ErrorCode::invalid_argument, "run {} has no recommendation{}{}; nothing to apply", run.id,
                      run.verdict ? ": " : "", run.verdict ? run.verdict->reason : "");
  ApplyRequest request{flags.config, {}, flags.dry_run ? ApplyMode::dry_run : flags.yes ? ApplyMode::apply : ApplyMode::ask,
                       flags.provenance};
  request.patch.section = flags.section;
  if (!flags.space.empty()) {
    RL_TRY_ASSIGN(const auto text, base::read_file(flags.space));
    RL_TRY_ASSIGN(auto file, campaign::parse_space_file(text, flags.space));
    request.patch.mapping = std::move(file.mapping);
  }
  RL_TRY(apply_recommendation(run, request, inspect_terminal(stdout)));
  return kOk;
}

}  // namespace

void add_apply(CLI::App& app, Context& context) {
  auto flags = std::make_shared<Flags>();
  auto* command = add_subcommand(app, context, "apply", "Write a run's recommended settings into a config.yaml",
                                 "  ridgeline apply latest --config config.yaml --dry-run",
                                 [flags, &context] { return apply(*flags, context); });
  command->add_option("RUN", flags->run, "Run id, its beginning, or latest")->required();
  command->add_option("--config", flags->config, "YAML file to change")->type_name("FILE")->required();
  command->add_option("--config-section", flags->section, "Section for keys it does not have yet")->type_name("NAME")->capture_default_str();
  command->add_option("--space", flags->space, "Space file whose mapping section says where keys live")->type_name("FILE.yaml");
  command->add_flag("--dry-run", flags->dry_run, "Show the change, write nothing");
  command->add_flag("--provenance", flags->provenance, "Comment changed values with the run and trial");
  command->add_flag("-y,--yes", flags->yes, "Write without asking");
  add_database_option(*command, context);
}

}  // namespace ridgeline::app
