// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/profile_output.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

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

void print_profile(const schema::ProfileRun& recorded, const ProfileFlags& flags) {
  const auto run = report::per_run(recorded);
  const auto terminal = inspect_terminal(stdout);
  if (const auto* kernel = flags.kernel.empty() ? nullptr : report::find_kernel(run, flags.kernel)) {
    for (const auto& [title, table] : report::kernel_detail(words(), *kernel, report::peak_bytes_per_s(run)))
      print_table(table, title, terminal);
    return;
  }
  if (flags.shows_modules()) print_table(report::module_table(words(), run, flags.view()), "Modules", terminal);
  print_table(report::graphs_table(words(), run), "CUDA graphs, per launch", terminal);
  report::ReportModel answer;
  answer.asked = report::profile_asked(words(), run);
  answer.answer = report::profile_answer_section(words(), run);
  print_answer(answer, terminal);
}

Result<void> check_kernel(const schema::ProfileRun& run, const std::string& name) {
  if (name.empty() || report::find_kernel(run, name) != nullptr) return {};
  return base::fail(base::ErrorCode::not_found, "--kernel {}: no kernel name contains this", name)
      .hint("{}", run.tables.kernels.empty() ? "the profile has no kernels"
                                             : "the longest is " + run.tables.kernels.front().name);
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

/// Prints as long as standard output takes it. That it does not is reported at the end of the program.
template <typename Print>
void print_if_possible(Print print) {
  if (std::ferror(stdout) != 0) return;
  try {
    print();
  } catch (const std::system_error&) {
    if (std::ferror(stdout) == 0) throw;
  }
}

/// The outputs of a run, of which each is made also if another one fails.
class Outputs {
 public:
  explicit Outputs(const ProfileFlags& flags) : flags_(flags) {}

  void add(std::string_view label, const std::string& file, const Result<void>& written) {
    check(written);
    if (written) print_line(label, file);
  }
  void print_line(std::string_view label, const std::string& text) const {
    if (flags_.talks()) print_if_possible([&] { fmt::print("{:<{}}{}\n", label, kProfileLabel, text); });
  }
  void check(const Result<void>& made) {
    if (made) return;
    if (!error_)
      error_ = made.error();
    else
      error_->message += "; " + made.error().message;
  }
  /// All errors in one.
  [[nodiscard]] Result<void> result() const {
    if (error_) return tl::unexpected<base::Error>(*error_);
    return {};
  }

 private:
  const ProfileFlags& flags_;
  std::optional<base::Error> error_;
};

void write_data(const schema::ProfileRun& run, const ProfileFlags& flags, Outputs& outputs) {
  if (const auto file = flags.json_file(); !file.empty())
    outputs.add("json", file,
                base::write_file_atomically(file, base::dump_json(report::profile_json(words(), run)) + "\n"));
  if (!flags.csv.empty()) outputs.add("tables", flags.csv, write_tables(run, flags.csv));
}

void print_json(const schema::ProfileRun& run, const ProfileFlags& flags) {
  if (flags.prints_json())
    print_if_possible([&] { fmt::print("{}\n", base::dump_json(report::profile_json(words(), run))); });
}

}  // namespace

Result<void> write_profile_data(const schema::ProfileRun& run, const ProfileFlags& flags) {
  Outputs outputs(flags);
  write_data(run, flags, outputs);
  print_json(run, flags);
  return outputs.result();
}

Result<void> write_profile(const schema::ProfileRun& run, const trace::AnalysedTrace& analysed,
                           const ProfileFlags& flags) {
  Outputs outputs(flags);
  if (flags.talks()) print_if_possible([&] { print_profile(run, flags); });
  write_data(run, flags, outputs);
  if (const auto files = flags.report.files(); !files.empty()) {
    const auto timeline = has_page(files) ? trace::page_timeline(analysed) : std::string();
    const auto report = report::build_profile_report(words(), run, timeline, flags.kernel);
    for (const auto& file : files) outputs.add("report", file.path, write_reports(report, {file}));
  }
  if (!flags.perfetto.empty())
    outputs.add("timeline", flags.perfetto, trace::write_perfetto(analysed.trace, flags.perfetto));
  if (!flags.chrome.empty())
    outputs.add("timeline", flags.chrome, trace::write_chrome_json(analysed.trace, flags.chrome));
  if (!run.trace_file.empty()) {
    std::error_code ignored;
    const auto bytes = std::filesystem::file_size(run.trace_file, ignored);
    outputs.print_line("trace", fmt::format("{} ({})", run.trace_file, base::format_bytes(static_cast<double>(bytes))));
  }
  outputs.print_line("run", fmt::format("{}  (ridgeline show {})", run.id, run.id));
  print_json(run, flags);
  if (flags.talks()) outputs.check(check_kernel(run, flags.kernel));
  return outputs.result();
}

}  // namespace ridgeline::app
