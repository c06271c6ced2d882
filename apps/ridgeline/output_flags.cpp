// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/output_flags.hpp"

#include "ridgeline/report_files.hpp"

namespace ridgeline::app {

bool OutputFlags::touches_file() const {
  return !write.file().empty() && (write.concerns_file() || (!json && !write.no_apply));
}

void add_output_flags(CLI::App& command, Context& context, OutputFlags& flags, const std::string& config_help,
                      ApplySpelling spelling, const std::string& quiet_help) {
  command.option_defaults()->group("Output");
  add_write_flags(command, flags.write, config_help, spelling);
  add_report_flags(command, flags.report);
  command.add_flag("--json", flags.json, "Print the run as JSON on standard output");
  add_database_option(command, context);
  command.add_flag("-q,--quiet", flags.quiet, quiet_help);
  add_options_file(command, context);
}

void add_show_flag(CLI::App& command, OutputFlags& flags) {
  command.add_option("--show", flags.show, "Show a stored run again (latest, or its id) instead of measuring")
      ->type_name("RUN");
}

base::Result<void> check_outputs(const OutputFlags& flags) { return check_report_flags(flags.report); }

base::Result<void> write_outputs(const report::ReportModel& model, const std::vector<ReportFile>& files,
                                 const OutputFlags& flags, int label_width) {
  RL_TRY(write_reports(model, files));
  for (const auto& file : files)
    if (flags.talks()) fmt::print("{:<{}}{}\n", "report", label_width, file.path);
  return {};
}

void print_run_id(const std::string& id, const OutputFlags& flags, int label_width) {
  if (flags.talks()) fmt::print("{:<{}}{}  (ridgeline show {})\n", "run", label_width, id, id);
}

void print_summary(const std::vector<std::pair<std::string, std::string>>& lines, const Terminal& terminal,
                   int label_width) {
  for (const auto& [label, text] : lines) {
    std::string indented;
    for (const char c : wrapped(text, terminal.width - label_width, 0))
      indented += c == '\n' ? "\n" + std::string(static_cast<std::size_t>(label_width), ' ') : std::string(1, c);
    fmt::print("{:<{}}{}\n", label, label_width, indented);
  }
}

}  // namespace ridgeline::app
