// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/renamed_options.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "ridgeline/program.hpp"

namespace ridgeline::app {
namespace {

class RenamedOptionsTest : public ::testing::Test {
 protected:
  RenamedOptionsTest() { add_commands(cli_, context_); }

  /// The command line as it is read now; notes_ are what is printed meanwhile.
  std::string renamed(const std::string& line) {
    auto words = base::split(line, ' ');
    testing::internal::CaptureStderr();
    rename_options(words, words.size(), cli_);
    notes_ = testing::internal::GetCapturedStderr();
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "" : " ") + word;
    return out;
  }

  Context context_;
  CLI::App cli_{"Ridgeline", "ridgeline"};
  std::string notes_;
};

TEST_F(RenamedOptionsTest, a_former_name_is_replaced_with_one_note) {
  EXPECT_EQ(renamed("ridgeline tune m.onnx --trial-time 2s"), "ridgeline tune m.onnx --time 2s");
  EXPECT_EQ(notes_, "note: --trial-time is now --time\n");
  EXPECT_EQ(renamed("ridgeline bench --device=cpu"), "ridgeline bench --devices=cpu");
  EXPECT_EQ(notes_, "note: --device is now --devices\n");
  EXPECT_EQ(renamed("ridgeline watch --probe-time=1s"), "ridgeline watch --time=1s");
  EXPECT_EQ(notes_, "note: --probe-time is now --time\n");
}

TEST_F(RenamedOptionsTest, an_option_that_means_more_than_its_successor_is_kept) {
  const std::string line = "ridgeline report latest --report-html page";
  EXPECT_EQ(renamed(line), line);
  EXPECT_EQ(notes_, "note: --report-html is now --report FILE.html\n");
}

TEST_F(RenamedOptionsTest, names_belong_to_a_command_also_to_one_of_a_command) {
  for (const std::string line :
       {"ridgeline stream run --trial-time 2s", "ridgeline stream bench --report-html a.html",
        "ridgeline tune --device 0", "ridgeline profile diff --report-html a.html", "ridgeline --trial-time tune"}) {
    EXPECT_EQ(renamed(line), line);
    EXPECT_EQ(notes_, "") << line;
  }
  for (const std::string line :
       {"ridgeline profile import a.json --report-html", "ridgeline profile --db r.db import a.json --report-html",
        "ridgeline profile m.onnx --report-html"}) {
    EXPECT_EQ(renamed(line), line);
    EXPECT_EQ(notes_, "note: --report-html is now --report FILE.html\n") << line;
  }
}

TEST_F(RenamedOptionsTest, values_and_other_programs_words_stay) {
  for (const std::string line : {"ridgeline tune --config --trial-time", "ridgeline bench --model --device",
                                 "ridgeline sweep --param a=1 -- tool --report-html"}) {
    EXPECT_EQ(renamed(line), line);
    EXPECT_EQ(notes_, "") << line;
  }
}

}  // namespace
}  // namespace ridgeline::app
