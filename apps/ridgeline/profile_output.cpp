// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/profile_output.hpp"

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "report/inline_text.hpp"
#include "report/profile/kernel_detail.hpp"
#include "report/profile/module_table.hpp"
#include "report/profile/profile_csv.hpp"
#include "report/profile/profile_figures.hpp"
#include "report/profile/profile_memory.hpp"
#include "report/profile/profile_report.hpp"
#include "report/profile/profile_tables.hpp"
#include "report/renderers.hpp"
#include "ridgeline/output_flags.hpp"
#include "ridgeline/report_files.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/words.hpp"
#include "trace/export/chrome_export.hpp"
#include "trace/export/page_timeline.hpp"
#include "trace/export/perfetto_export.hpp"

namespace ridgeline::app {
namespace {

using base::Result;

constexpr int kProfileLabel = 9;
constexpr std::size_t kShownKernels = 10;
constexpr std::size_t kShownFindings = 3;

void print_table(const report::Table& table, const std::string& title, const Terminal& terminal) {
  if (table.rows.empty()) return;
  fmt::print("\n{}\n{}", styled(title, Style::bold, terminal.colour),
             report::render_table(table, terminal.width, terminal.colour));
}

void print_findings(const schema::ProfileRun& run, const Terminal& terminal) {
  if (report::is_host_only(run)) return;
  fmt::print("\n{}\n", styled("What to do", Style::bold, terminal.colour));
  if (run.findings.empty()) fmt::print("{}\n", words().text(schema::no_findings(run)));
  for (std::size_t i = 0; i < std::min(kShownFindings, run.findings.size()); ++i) {
    const auto text = report::finding_text(words(), run.findings[i]);
    fmt::print("{} {}\n", styled(fmt::format("{}.", i + 1), Style::accent, terminal.colour),
               styled(wrapped(text.title, terminal.width - 3, 3), Style::bold, terminal.colour));
    for (const auto& line : text.lines) fmt::print("   {}\n", wrapped(line, terminal.width - 3, 3));
    for (std::size_t begin = 0; begin < text.snippet.size();) {
      const auto end = std::min(text.snippet.find('\n', begin), text.snippet.size());
      fmt::print("     {}\n", styled(text.snippet.substr(begin, end - begin), Style::accent, terminal.colour));
      begin = end + 1;
    }
  }
  if (run.findings.size() > kShownFindings)
    fmt::print("and {} more: ridgeline show {}\n", run.findings.size() - kShownFindings, run.id);
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
  print_summary(report::profile_summary(words(), run), terminal, kProfileLabel);
  print_table(report::time_table(words(), run), "Where the time went", terminal);
  print_table(report::operations_table(run, kShownKernels), "Where the time went", terminal);
  print_table(report::steps_table(run), "Steps", terminal);
  print_table(report::module_table(run, flags.view()), "Modules", terminal);
  print_table(report::kernels_table(run, kShownKernels), report::kernels_title(run), terminal);
  print_table(report::copies_table(run, 4), "Copies", terminal);
  print_table(report::nodes_table(run, kShownKernels), "Nodes", terminal);
  print_table(report::memory_table(run), "Memory", terminal);
  print_table(report::holders_table(run), "Memory at the peak", terminal);
  for (const auto& note : words().texts(report::memory_notes(run)))
    fmt::print("{}\n", wrapped(report::strip_marks(report::plain_text(note)), terminal.width, 0));
  if (!report::is_memory_only(run)) print_findings(run, terminal);
  fmt::print("\n");
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

Result<void> write_profile(const schema::ProfileRun& run, const trace::AnalysedTrace& analysed,
                           const ProfileFlags& flags) {
  if (flags.json)
    fmt::print("{}\n", base::dump_json(report::profile_json(words(), run)));
  else if (!flags.quiet)
    RL_TRY(print_profile(run, flags));
  if (const auto files = flags.report.files(); !files.empty()) {
    const auto timeline = has_page(files) ? trace::page_timeline(analysed) : std::string();
    RL_TRY(write_reports(report::build_profile_report(words(), run, timeline, flags.kernel), files));
    for (const auto& file : files) say(flags, "report", file.path);
  }
  if (!flags.csv.empty()) {
    RL_TRY(write_tables(run, flags.csv));
    say(flags, "tables", flags.csv);
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
