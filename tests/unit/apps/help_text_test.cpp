// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "report/utf8.hpp"
#include "ridgeline/help_text.hpp"
#include "ridgeline/option_levels.hpp"
#include "ridgeline/program.hpp"

namespace ridgeline::app {
namespace {

class HelpTextTest : public ::testing::Test {
 protected:
  HelpTextTest() { add_commands(cli_, context_); }

  /// All commands, "stream run" too, with their names.
  std::vector<std::pair<std::string, const CLI::App*>> commands() const {
    std::vector<std::pair<std::string, const CLI::App*>> out;
    const auto shown = [](const CLI::App* one) { return !one->get_group().empty(); };
    for (const auto* one : cli_.get_subcommands(shown)) {
      out.emplace_back(one->get_name(), one);
      for (const auto* nested : one->get_subcommands(shown))
        out.emplace_back(one->get_name() + " " + nested->get_name(), nested);
    }
    return out;
  }

  Context context_;
  CLI::App cli_{"Ridgeline", "ridgeline"};
};

TEST_F(HelpTextTest, every_line_fits_the_terminal) {
  for (const int width : {80, 100, 120})
    for (const auto level : {HelpLevel::brief, HelpLevel::usual, HelpLevel::all})
      for (const auto& [name, command] : commands())
        for (const auto& line : base::split(help_text(*command, context_, level, width), '\n'))
          EXPECT_LE(report::columns_of(line), static_cast<std::size_t>(width)) << name << ": " << line;
}

TEST_F(HelpTextTest, the_brief_one_has_15_lines_an_example_and_the_way_to_more) {
  for (const auto& [name, command] : commands()) {
    const auto text = help_text(*command, context_, HelpLevel::brief, 80);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kBriefLines) << text;
    EXPECT_NE(text.find("--help"), std::string::npos) << text;
    EXPECT_NE(text.find("ridgeline " + name), std::string::npos) << text;
  }
}

TEST_F(HelpTextTest, the_tables_name_options_that_exist) {
  std::size_t seldom = 0;
  for (const auto& [name, command] : commands()) {
    for (const auto key : key_options(name)) {
      EXPECT_NE(command->get_option_no_throw(std::string(key)), nullptr) << name << " " << key;
      EXPECT_FALSE(is_seldom_used(name, key)) << name << " " << key;
    }
    for (const auto key : seldom_options(name)) {
      ++seldom;
      EXPECT_NE(command->get_option_no_throw(std::string(key)), nullptr) << name << " " << key;
    }
  }
  EXPECT_GT(seldom, 40U);
}

TEST_F(HelpTextTest, seldom_used_options_are_behind_help_all) {
  const auto* tune = cli_.get_subcommand("tune");
  const auto usual = help_text(*tune, context_, HelpLevel::usual, 80);
  EXPECT_EQ(usual.find("--isolation"), std::string::npos);
  EXPECT_NE(usual.find("ridgeline tune --help-all"), std::string::npos);
  EXPECT_NE(help_text(*tune, context_, HelpLevel::all, 80).find("--isolation"), std::string::npos);
}

TEST_F(HelpTextTest, an_example_that_is_too_long_can_still_be_copied) {
  const auto text = help_text(*cli_.get_subcommand("tune"), context_, HelpLevel::usual, 60);
  EXPECT_NE(text.find(" \\\n    "), std::string::npos) << text;
}

}  // namespace
}  // namespace ridgeline::app
