// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/profile_output.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/profile/bytes_sources.hpp"
#include "report/profile/kernel_detail.hpp"
#include "report/profile/module_table.hpp"
#include "report/profile/profile_answer.hpp"
#include "report/profile/profile_csv.hpp"
#include "report/profile/profile_figures.hpp"
#include "report/profile/profile_memory.hpp"
#include "report/profile/profile_report.hpp"
#include "report/profile/profile_tables.hpp"
#include "report/renderers.hpp"
#include "ridgeline/output_flags.hpp"
#include "ridgeline/report_files.hpp"
#include "ridgeline/section_text.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/words.hpp"
#include "trace/export/chrome_export.hpp"
#include "trace/export/page_timeline.hpp"
#include "trace/export/perfetto_export.hpp"

namespace ridgeline::app {
namespace {

using base::Result;

constexpr int kProfileLabel = 9;

void print_table(const report::Table& table, const std::string& title, const Terminal& terminal) {
  if (table.rows.empty()) return;
  fmt::print("\n{}\n{}", styled(title, Style::bold, terminal.colour),
             report::render_table(table, terminal.width, terminal.colour));
}

Result<void> print_profile(const schema::ProfileRun& recorded, const ProfileFlags& flags) {
  const auto run = report::per_run(recorded);
  const auto terminal = inspect_terminal(stdout);
  if (!flags.kernel.empty()) {
    const auto* kernel = report::find_kernel(run, flags.kernel);
    if (kernel == nullptr)
      return base::fail(base::ErrorCode::not_found, "--kernel {}: no kernel name contains this", flags.kernel)
          .hint("{}", run.tables.kernels.empty() ? "the profile has no kernels"
                                                 : "the longest is " + run.tables.kernels.front().name);
    for (const auto& [title, table] : report::kernel_detail(words(), *kernel, report::peak_bytes_per_s(run)))
      print_table(table, title, terminal);
    return {};
  }
  if (flags.shows_modules()) print_table(report::module_table(words(), run, flags.view()), "Modules", terminal);
  print_table(report::graphs_table(words(), run), "CUDA graphs, per launch", terminal);
  report::ReportModel answer;
  answer.asked = report::profile_asked(words(), run);
  answer.answer = report::profile_answer_section(words(), run);
  print_answer(answer, terminal);
  return {};
}

Result<void> write_tables(const schema::ProfileRun& run, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return base::fail(base::ErrorCode::io, "--csv {}: {}", folder, error.message()).hint("choose another folder");
  for (const auto& [name, content] : report::profile_csv(words(), run))
    RL_TRY(base::write_file_atomically((std::filesystem::path(folder) / name).string(), content));
  return {};
}

void say(const ProfileFlags& flags, std::string_view label, const std::string& file) {
  if (flags.talks() && !file.empty()) fmt::print("{:<{}}{}\n", label, kProfileLabel, file);
}

}  // namespace

Result<void> write_profile_data(const schema::ProfileRun& run, const ProfileFlags& flags) {
  if (!flags.json_to.empty()) {
    const auto text = base::dump_json(report::profile_json(words(), run)) + "\n";
    if (flags.prints_json()) fmt::print("{}", text);
    if (const auto file = flags.json_file(); !file.empty()) {
      RL_TRY(base::write_file_atomically(file, text));
      say(flags, "json", file);
    }
  }
  if (!flags.csv.empty()) {
    RL_TRY(write_tables(run, flags.csv));
    say(flags, "tables", flags.csv);
  }
  return {};
}

Result<void> write_profile(const schema::ProfileRun& run, const trace::AnalysedTrace& analysed,
                           const ProfileFlags& flags) {
  if (!flags.prints_json() && !flags.quiet) RL_TRY(print_profile(run, flags));
  RL_TRY(write_profile_data(run, flags));
  if (const auto files = flags.report.files(); !files.empty()) {
    const auto timeline = has_page(files) ? trace::page_timeline(analysed) : std::string();
    RL_TRY(write_reports(report::build_profile_report(words(), run, timeline, flags.kernel), files));
    for (const auto& file : files) say(flags, "report", file.path);
  }
  if (!flags.perfetto.empty()) {
    RL_TRY(trace::write_perfetto(analysed.trace, flags.perfetto));
    say(flags, "timeline", flags.perfetto);
  }
  if (!flags.chrome.empty()) {
    RL_TRY(trace::write_chrome_json(analysed.trace, flags.chrome));
    say(flags, "timeline", flags.chrome);
  }
  if (flags.talks() && !run.trace_file.empty()) {
    std::error_code ignored;
    const auto bytes = std::filesystem::file_size(run.trace_file, ignored);
    fmt::print("{:<{}}{} ({})\n", "trace", kProfileLabel, run.trace_file,
               base::format_bytes(static_cast<double>(bytes)));
  }
  if (flags.talks()) fmt::print("{:<{}}{}  (ridgeline show {})\n", "run", kProfileLabel, run.id, run.id);
  return {};
}

}  // namespace ridgeline::app
