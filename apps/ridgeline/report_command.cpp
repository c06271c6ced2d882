// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "report/renderers.hpp"
#include "ridgeline/kinds.hpp"
#include "ridgeline/report_files.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

void add_report(CLI::App& app, Context& context) {
  struct Flags {
    std::string run;
    std::string output;
    std::string html;
  };
  auto flags = std::make_shared<Flags>();
  auto* command = add_subcommand(
      app, context, "report", "Write a run's report again from the results file",
      "  ridgeline report latest --output report.md --report-html\n  ridgeline report latest           (Markdown on "
      "standard output)",
      [flags, &context]() -> base::Result<int> {
        RL_TRY(check_report_flags(flags->output, flags->html));
        const auto html = flags->html == "auto" ? html_beside(flags->output) : flags->html;
        RL_TRY_ASSIGN(auto store, context.open_store(store::Access::read));
        RL_TRY_ASSIGN(const auto run, store.load_run(flags->run));
        const auto kinds = known_kinds();
        RL_TRY_ASSIGN(const auto* kind, kinds.of(run));
        RL_TRY_ASSIGN(const auto model, html.empty() ? kind->report(run, store) : kind->page(run, store));
        RL_TRY(write_reports(model, flags->output, html));
        if (!flags->output.empty()) fmt::print("report   {}\n", flags->output);
        if (!html.empty()) fmt::print("report   {}\n", html);
        if (flags->output.empty() && html.empty()) fmt::print("{}", report::render_markdown(model));
        return kOk;
      });
  command
      ->add_option("RUN", flags->run,
                   "Run id or its first characters, latest, or latest:KIND (tune, bench, sweep, profile)")
      ->required();
  add_report_flags(*command, flags->output, flags->html);
  add_database_option(*command, context);
}

}  // namespace ridgeline::app
