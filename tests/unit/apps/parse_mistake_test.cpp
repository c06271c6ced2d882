// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/parse_mistake.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ridgeline::app {
namespace {

/// A program with one command, `ridgeline bake FILE --heat N`.
class ParseMistake : public ::testing::Test {
 protected:
  ParseMistake() : cli_("", "ridgeline") {
    auto* bake = cli_.add_subcommand("bake", "Bakes");
    bake->add_option("file", file_, "")->required();
    bake->add_option("--heat", heat_, "");
    cli_.require_subcommand(1);
  }

  base::Error mistake(std::vector<std::string> words) {
    const auto all = words;
    std::vector<std::string> reversed(words.rbegin(), words.rend() - 1);
    try {
      cli_.parse(reversed);
    } catch (const CLI::ParseError& error) {
      return parse_mistake(error, cli_, all, "");
    }
    return {};
  }

  CLI::App cli_;
  std::string file_;
  int heat_ = 0;
};

TEST_F(ParseMistake, names_the_command_that_was_meant) {
  const auto error = mistake({"ridgeline", "bakke", "bread"});
  EXPECT_NE(error.message.find("bakke"), std::string::npos) << error.message;
  EXPECT_NE((error.message + error.hint).find("bake"), std::string::npos) << error.message << " / " << error.hint;
}

TEST_F(ParseMistake, names_the_option_that_was_meant) {
  const auto error = mistake({"ridgeline", "bake", "bread", "--heet", "3"});
  EXPECT_NE(error.message.find("--heet"), std::string::npos) << error.message;
  EXPECT_NE((error.message + error.hint).find("--heat"), std::string::npos) << error.message << " / " << error.hint;
}

TEST_F(ParseMistake, names_the_argument_that_is_missing) {
  const auto error = mistake({"ridgeline", "bake"});
  EXPECT_EQ(error.code, base::ErrorCode::invalid_argument);
  EXPECT_NE((error.message + error.hint).find("bake"), std::string::npos) << error.message << " / " << error.hint;
}

TEST_F(ParseMistake, help_is_a_word_too) {
  EXPECT_EQ(with_help_words({"ridgeline", "help", "bake"}, cli_).value(),
            (std::vector<std::string>{"ridgeline", "bake", "--help"}));
  EXPECT_FALSE(with_help_words({"ridgeline", "help", "fry"}, cli_));
}

}  // namespace
}  // namespace ridgeline::app
