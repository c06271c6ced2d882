// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/report_files.hpp"

#include <unistd.h>

#include <filesystem>

#include "base/file.hpp"
#include "report/renderers.hpp"
#include "ridgeline/embedded.hpp"

namespace ridgeline::app {

namespace {

/// The run is in the results file by now: another place can still have its report.
base::Result<void> write(const std::string& file, const std::string& text) {
  auto written = base::write_file_atomically(file, text);
  if (!written) written.error().hint = "write it elsewhere: ridgeline report latest --output FILE";
  return written;
}

/// The file's folder exists and is writable, the path is not a folder.
base::Result<void> check_writable(const std::string& path, std::string_view flag) {
  if (path.empty()) return {};
  std::error_code ignored;
  const std::filesystem::path file(path);
  if (std::filesystem::is_directory(file, ignored))
    return base::fail(base::ErrorCode::invalid_argument, "{} {}: is a folder; expected a file name", flag, path)
        .hint("for example {}/report.md", path);
  if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored))
    return base::fail(base::ErrorCode::invalid_argument,
                      "{} {}: is not a regular file, so a report cannot replace it; expected another name", flag, path);
  const auto folder = file.parent_path().empty() ? std::filesystem::path(".") : file.parent_path();
  if (!std::filesystem::is_directory(folder, ignored))
    return base::fail(base::ErrorCode::not_found, "{} {}: the folder {} does not exist", flag, path, folder.string())
        .hint("create it first");
  if (::access(folder.c_str(), W_OK) != 0)
    return base::fail(base::ErrorCode::io, "{} {}: the folder {} is not writable", flag, path, folder.string())
        .hint("choose another place");
  return {};
}

}  // namespace

void add_report_flags(CLI::App& command, std::string& output, std::string& html) {
  command.add_option("--output", output, "Markdown report")->type_name("REPORT.md");
  command.add_option("--report-html", html, "HTML report (without FILE: next to --output)")
      ->type_name("FILE")
      ->expected(0, 1)
      ->default_str("auto");
}

base::Result<void> check_report_flags(const std::string& output, const std::string& html) {
  if (html == "auto" && output.empty())
    return base::fail(base::ErrorCode::invalid_argument, "--report-html: no file given")
        .hint("give --report-html FILE, or add --output REPORT.md");
  RL_TRY(check_writable(output, "--output"));
  return check_writable(html == "auto" ? html_beside(output) : html, "--report-html");
}

base::Result<void> write_reports(const report::ReportModel& model, const std::string& markdown,
                                 const std::string& html) {
  if (!markdown.empty()) {
    RL_TRY(write(markdown, report::render_markdown(model)));
  }
  if (!html.empty()) {
    RL_TRY(write(html, report::render_html(model, echarts_js())));
  }
  return {};
}

std::string html_beside(const std::string& markdown) {
  return std::filesystem::path(markdown).replace_extension(".html").string();
}

}  // namespace ridgeline::app
