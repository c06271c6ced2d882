// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/profile_flags.hpp"

#include <filesystem>

#include "ridgeline/flag_values.hpp"

namespace ridgeline::app {

report::ModuleView ProfileFlags::view() const {
  report::ModuleView view;
  view.depth = depth;
  view.order = sort == "calls"   ? report::ModuleOrder::calls
               : sort == "bytes" ? report::ModuleOrder::bytes
               : sort == "name"  ? report::ModuleOrder::name
                                 : report::ModuleOrder::time;
  return view;
}

std::string ProfileFlags::trace_folder(const Context& context) const {
  return no_keep_trace ? "" : (context.database_path().parent_path() / "traces").string();
}

void add_profile_flags(CLI::App& command, Context& context, ProfileFlags& flags) {
  command.option_defaults()->group("Display");
  add_number(command, "--depth", flags.depth, 1, 1000,
             "Levels of the module tree (default: modules that take at least 1 % of the time)")
      ->default_str("");
  add_choice(command, context, "--sort", flags.sort, {"time", "calls", "bytes", "name"}, "Sort order of the modules");
  command.add_option("--kernel", flags.kernel, "Show one kernel in detail: the longest whose name contains NAME")
      ->type_name("NAME");
  command.option_defaults()->group("Output");
  add_report_flags(command, flags.report);
  command.add_option("--csv", flags.csv, "Write every table as CSV to this folder")->type_name("FOLDER");
  command.add_option("--perfetto", flags.perfetto, "Write the timeline for ui.perfetto.dev")->type_name("FILE");
  command.add_option("--chrome", flags.chrome, "Write the timeline as Chrome JSON; compressed if the name ends in .gz")
      ->type_name("FILE");
  command.add_flag("--no-keep-trace", flags.no_keep_trace,
                   "Do not keep the events as traces/RUN.rltrace next to the results file");
  command.add_flag("--json", flags.json, "Print the run as JSON on standard output");
  add_database_option(command, context);
  command.add_flag("-q,--quiet", flags.quiet, "Print only errors");
}

base::Result<void> check_profile_flags(const ProfileFlags& flags) {
  RL_TRY(check_report_flags(flags.report));
  std::error_code ignored;
  if (!flags.csv.empty() && std::filesystem::exists(flags.csv, ignored) &&
      !std::filesystem::is_directory(flags.csv, ignored))
    return base::fail(base::ErrorCode::invalid_argument, "--csv {}: is a file; expected a folder", flags.csv)
        .hint("for example --csv {}_tables", flags.csv);
  return {};
}

}  // namespace ridgeline::app
