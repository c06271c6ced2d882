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
    ReportFlags report;
  };
  auto flags = std::make_shared<Flags>();
  auto* command = add_subcommand(app, context, "report", "Write a run's report again from the results file",
                                 "  ridgeline report latest --report report.md --report report.html\n"
                                 "  ridgeline report latest           (Markdown on standard output)",
                                 [flags, &context]() -> base::Result<int> {
                                   RL_TRY(check_report_flags(flags->report));
                                   const auto files = flags->report.files();
                                   RL_TRY_ASSIGN(auto store, context.open_store(store::Access::read));
                                   RL_TRY_ASSIGN(const auto run, store.load_run(flags->run));
                                   const auto kinds = known_kinds();
                                   RL_TRY_ASSIGN(const auto* kind, kinds.of(run));
                                   RL_TRY_ASSIGN(const auto model,
                                                 has_page(files) ? kind->page(run, store) : kind->report(run, store));
                                   RL_TRY(write_reports(model, files));
                                   for (const auto& file : files) fmt::print("report   {}\n", file.path);
                                   if (files.empty()) fmt::print("{}", report::render_markdown(model));
                                   return kOk;
                                 });
  command
      ->add_option("RUN", flags->run,
                   "Run id or its first characters, latest, or latest:KIND (tune, bench, sweep, profile)")
      ->required();
  add_report_flags(*command, flags->report);
  add_database_option(*command, context);
}

}  // namespace ridgeline::app
