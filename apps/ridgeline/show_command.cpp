// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/ranges.h>

#include "base/file.hpp"
#include "report/renderers.hpp"
#include "ridgeline/kinds.hpp"
#include "ridgeline/output_flags.hpp"
#include "ridgeline/section_text.hpp"
#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

namespace {

base::Result<int> show_section(const report::ReportModel& report, const std::string& name, const Terminal& terminal) {
  std::vector<std::string> names;
  for (const auto& section : report.sections) {
    if (section.id == name) {
      fmt::print("{}", section_text(section, terminal));
      return kOk;
    }
    names.push_back(section.id);
  }
  return base::fail(base::ErrorCode::not_found, "--section {}: this run's report has no such section; it has {}", name,
                    fmt::join(names, ", "));
}

void print_head(const report::ReportModel& report, const Terminal& terminal) {
  fmt::print("{}\n{}\n\n", styled(wrapped(report.title, terminal.width, 0), Style::bold, terminal.colour),
             wrapped(report.subtitle, terminal.width, 0));
}

void show_all(const report::ReportModel& report, const Terminal& terminal) {
  print_head(report, terminal);
  for (const auto& section : report.sections) fmt::print("{}\n", section_text(section, terminal));
}

/// The answer, and how to see the rest.
void show_answer(const report::ReportModel& report, const std::string& id, const Terminal& terminal) {
  std::vector<std::string> names;
  for (const auto& section : report.sections) names.push_back(section.id);
  print_head(report, terminal);
  fmt::print("{}\n", answer_text(report, terminal));
  fmt::print("all      ridgeline show {} --all\nparts    {}\n", id,
             wrapped(fmt::format("--section {}", fmt::join(names, ", ")), terminal.width - kLabelWidth, kLabelWidth));
}

base::Result<int> write_picture(const report::ReportModel& report, std::string_view kind, const std::string& file) {
  if (report.answer.blocks.empty())
    return base::fail(base::ErrorCode::not_found, "--svg: a {} run has no answer to draw", kind)
        .hint("ridgeline report latest:{} --report FILE.html writes a page with its charts", kind);
  RL_TRY(base::write_file_atomically(file, report::render_svg(report)));
  fmt::print("picture  {}\n", file);
  return kOk;
}

}  // namespace

void add_show(CLI::App& app, Context& context) {
  struct Flags {
    std::string run = "latest";
    std::string section;
    std::string svg;
    bool all = false;
    bool summary = false;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  auto* command =
      add_subcommand(app, context, "show", "Print the answer of a run, or everything it found",
                     "  ridgeline show                 (the latest run)\n  ridgeline show 20261121-0815 --all\n  "
                     "ridgeline show latest:bench --json",
                     [flags, &context]() -> base::Result<int> {
                       RL_TRY_ASSIGN(auto store, context.open_store(store::Access::read));
                       RL_TRY_ASSIGN(const auto run, store.load_run(flags->run));
                       const auto kinds = known_kinds();
                       RL_TRY_ASSIGN(const auto* kind, kinds.of(run));
                       if (flags->json) {
                         RL_TRY_ASSIGN(const auto json, kind->json(run, store));
                         fmt::print("{}\n", base::dump_json(json));
                         return kOk;
                       }
                       const auto terminal = inspect_terminal(stdout);
                       RL_TRY_ASSIGN(const auto report, kind->report(run, store));
                       if (flags->summary) {
                         fmt::print("{}", report::render_summary(report));
                         return kOk;
                       }
                       if (!flags->svg.empty()) return write_picture(report, kind->name(), flags->svg);
                       if (!flags->section.empty()) return show_section(report, flags->section, terminal);
                       if (flags->all)
                         show_all(report, terminal);
                       else
                         show_answer(report, run.id, terminal);
                       return kOk;
                     });
  command
      ->add_option("RUN", flags->run,
                   "Run id or its first characters, latest, or latest:KIND (tune, bench, sweep, profile, stream)")
      ->capture_default_str();
  command
      ->add_option("--section", flags->section,
                   "Only this section of the report, for example verdict; an unknown name lists all")
      ->type_name("NAME");
  command->add_flag("--all", flags->all, "Everything: all sections of the report, with trials, intervals and checks");
  command->add_flag("--summary", flags->summary,
                    "At most five lines of Markdown to paste: what was asked, and the answer");
  command->add_option("--svg", flags->svg, "Write the answer as a picture (SVG, light and dark)")->type_name("FILE");
  command->add_flag("--json", flags->json, "Print as JSON");
  // Each is another form of the same run: two at once would leave one out without a word.
  for (const auto* form : {"--section", "--all", "--summary", "--svg", "--json"})
    for (const auto* other : {"--section", "--all", "--summary", "--svg", "--json"})
      if (std::string_view(form) != other) command->get_option(form)->excludes(command->get_option(other));
  add_database_option(*command, context);
}

}  // namespace ridgeline::app
