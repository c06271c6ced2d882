// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "campaign/tune_campaign.hpp"
#include "report/json_report.hpp"
#include "report/tune_report.hpp"
#include "ridgeline/section_text.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

void add_show(CLI::App& app, Context& context) {
  struct Flags {
    std::string run = "latest";
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  auto* command = add_subcommand(
      app, context, "show", "Print everything a run found",
      "  ridgeline show                 (the latest run)\n  ridgeline show 20261121-0815 --json",
      [flags, &context]() -> base::Result<int> {
        RL_TRY_ASSIGN(auto store, context.open_store(store::Access::read));
        auto loaded = campaign::load_result(store, flags->run);
        if (!loaded) return tl::unexpected(std::move(loaded).error());
        const auto& result = *loaded;
        if (flags->json) {
          fmt::print("{}\n", base::dump_json(report::tune_json(result.run, result.outcomes, result.pairs)));
          return kOk;
        }
        const auto terminal = inspect_terminal(stdout);
        const auto report = report::build_tune_report(result.run, result.outcomes, result.pairs);
        fmt::print("{}\n{}\n\n", styled(report.title, Style::bold, terminal.colour), report.subtitle);
        for (const auto& section : report.sections) fmt::print("{}\n", section_text(section, terminal));
        return kOk;
      });
  command->add_option("RUN", flags->run, "Run id, its beginning, or latest")->capture_default_str();
  command->add_flag("--json", flags->json, "As JSON");
  add_database_option(*command, context);
}

}  // namespace ridgeline::app
