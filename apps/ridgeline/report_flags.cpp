// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/report_flags.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "ridgeline/flag_values.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

std::optional<ReportFormat> format_of(const std::string& path) {
  auto ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending == ".md") return ReportFormat::markdown;
  if (ending == ".html" || ending == ".htm") return ReportFormat::html;
  return std::nullopt;
}

std::vector<std::string> paths_of(const ReportFlags& flags) {
  return list_values(flags.reports, [](const std::string& path) { return format_of(path).has_value(); });
}

/// "report.md" -> "report.html".
std::string page_next_to(const std::string& markdown) {
  return std::filesystem::path(markdown).replace_extension(".html").string();
}

/// The file's folder exists and is writable, the path is not a folder.
Result<void> check_writable(const ReportFile& file) {
  std::error_code ignored;
  const std::filesystem::path path(file.path);
  if (std::filesystem::is_directory(path, ignored))
    return fail(ErrorCode::invalid_argument, "{} {}: is a folder; expected a file name", file.option, file.path)
        .hint("for example {}/report.md", file.path);
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    return fail(ErrorCode::invalid_argument,
                "{} {}: is not a regular file, so a report cannot replace it; expected another name", file.option,
                file.path);
  const auto folder = path.parent_path().empty() ? std::filesystem::path(".") : path.parent_path();
  if (!std::filesystem::is_directory(folder, ignored))
    return fail(ErrorCode::not_found, "{} {}: the folder {} does not exist", file.option, file.path, folder.string())
        .hint("create it first");
  if (::access(folder.c_str(), W_OK) != 0)
    return fail(ErrorCode::io, "{} {}: the folder {} is not writable", file.option, file.path, folder.string())
        .hint("choose another place");
  return {};
}

/// An empty name, a folder or a device has no ending either, and another mistake to name.
Result<void> check_ending(const std::string& path) {
  std::error_code ignored;
  if (format_of(path) || std::filesystem::is_directory(path, ignored)) return {};
  const auto ending = std::filesystem::path(path).extension().string();
  return fail(ErrorCode::invalid_argument, "--report {}: {}; expected .md, .html or .htm", path,
              ending.empty() ? "the name has no ending" : "unknown ending " + ending)
      .hint("for example --report {}", std::filesystem::path(path).replace_extension(".html").string());
}

}  // namespace

std::vector<ReportFile> ReportFlags::files() const {
  std::vector<ReportFile> out;
  if (!markdown.empty()) out.push_back({markdown, ReportFormat::markdown, "--output"});
  for (auto& path : paths_of(*this)) {
    const auto format = format_of(path).value_or(ReportFormat::markdown);
    out.push_back({std::move(path), format, "--report"});
  }
  if (html.empty()) return out;
  auto page = html;
  if (html == "auto") {
    const auto next_to =
        std::find_if(out.begin(), out.end(), [](const auto& file) { return file.format == ReportFormat::markdown; });
    if (next_to == out.end()) return out;
    page = page_next_to(next_to->path);
  }
  out.push_back({std::move(page), ReportFormat::html, "--report-html"});
  return out;
}

bool has_page(const std::vector<ReportFile>& files) {
  return std::any_of(files.begin(), files.end(), [](const auto& file) { return file.format == ReportFormat::html; });
}

void add_report_option(CLI::App& command, ReportFlags& flags) {
  command
      .add_option("--report", flags.reports,
                  "Write a report: Markdown if the name ends in .md, a page if it ends in .html; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_report_flags(CLI::App& command, ReportFlags& flags) {
  add_report_option(command, flags);
  command.add_option("--output", flags.markdown, "Write a Markdown report, whatever the name's ending")
      ->type_name("REPORT.md");
  command.add_option("--report-html", flags.html, "HTML report (without FILE: next to the Markdown report)")
      ->type_name("FILE")
      ->expected(0, 1)
      ->default_str("auto")
      ->group("");
}

Result<void> check_report_flags(const ReportFlags& flags) {
  for (const auto& path : paths_of(flags)) RL_TRY(check_ending(path));
  const auto files = flags.files();
  if (flags.html == "auto" && (files.empty() || files.back().option != "--report-html"))
    return fail(ErrorCode::invalid_argument, "--report-html: no file given").hint("write --report FILE.html");
  for (const auto& file : files) {
    RL_TRY(check_writable(file));
    for (const auto& other : files)
      if (file.path == other.path && file.format != other.format)
        return fail(ErrorCode::invalid_argument, "{} {} and {} {}: two reports in one file", file.option, file.path,
                    other.option, other.path)
            .hint("give each a file of its own");
  }
  return {};
}

}  // namespace ridgeline::app
