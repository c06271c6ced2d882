// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/report_flags.hpp"

#include <gtest/gtest.h>

namespace ridgeline::app {
namespace {

std::string text_of(const ReportFlags& flags) {
  std::string out;
  for (const auto& file : flags.files())
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", file.format == ReportFormat::html ? "page" : "markdown",
                       file.path);
  return out;
}

std::string mistake_of(const ReportFlags& flags) {
  const auto checked = check_report_flags(flags);
  return checked ? "" : checked.error().message;
}

TEST(ReportFlags, an_ending_names_the_format) {
  EXPECT_EQ(text_of({.reports = {"a.md", "b.html", "c.HTM"}}), "markdown a.md, page b.html, page c.HTM");
  EXPECT_EQ(text_of({.reports = {"a.md,b.html"}}), "markdown a.md, page b.html");
  EXPECT_EQ(text_of({.reports = {"a,b.html"}}), "page a,b.html");
}

TEST(ReportFlags, another_ending_is_a_mistake_that_is_named) {
  EXPECT_EQ(mistake_of({.reports = {"a.md", "b.htm"}}), "");
  EXPECT_EQ(mistake_of({.reports = {"a.pdf"}}), "--report a.pdf: unknown ending .pdf; expected .md, .html or .htm");
  EXPECT_EQ(mistake_of({.reports = {"page"}}), "--report page: the name has no ending; expected .md, .html or .htm");
}

TEST(ReportFlags, former_options_name_the_format_themselves) {
  EXPECT_EQ(text_of({.markdown = "a.txt", .html = "b.txt"}), "markdown a.txt, page b.txt");
  EXPECT_EQ(text_of({.markdown = "a.txt", .html = "auto"}), "markdown a.txt, page a.html");
  EXPECT_EQ(text_of({.reports = {"a.md"}, .html = "auto"}), "markdown a.md, page a.html");
  EXPECT_EQ(mistake_of({.html = "auto"}), "--report-html: no file given");
  EXPECT_EQ(mistake_of({.reports = {"a.html"}, .html = "auto"}), "--report-html: no file given");
}

TEST(ReportFlags, two_formats_need_two_files) {
  EXPECT_EQ(mistake_of({.reports = {"a.html"}, .markdown = "a.html"}),
            "--output a.html and --report a.html: two reports in one file");
  EXPECT_EQ(mistake_of({.reports = {"a.md", "a.md"}}), "");
}

TEST(ReportFlags, a_folder_is_named_as_one) {
  EXPECT_EQ(mistake_of({.reports = {"/"}}), "--report /: is a folder; expected a file name");
  EXPECT_EQ(mistake_of({.reports = {"/nowhere/a.md"}}), "--report /nowhere/a.md: the folder /nowhere does not exist");
}

}  // namespace
}  // namespace ridgeline::app
