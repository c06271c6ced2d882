// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/program.hpp"

#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ridgeline::app {
namespace {

struct Ended {
  int code = 0;
  std::string out;
  std::string err;
};

Ended run(std::initializer_list<std::string> words) {
  std::vector<std::string> all{"ridgeline"};
  all.insert(all.end(), words);
  std::vector<char*> pointers;
  for (auto& word : all) pointers.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Ended out;
  out.code = run_program(static_cast<int>(pointers.size()), pointers.data());
  out.out = testing::internal::GetCapturedStdout();
  out.err = testing::internal::GetCapturedStderr();
  return out;
}

TEST(Program, ends_with_0_when_it_did_what_was_asked) {
  const auto ended = run({"completion", "bash"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.out.find("_ridgeline()"), std::string::npos);
  EXPECT_EQ(ended.err, "");
}

TEST(Program, a_mistake_on_the_command_line_is_a_line_and_exit_code_2) {
  const auto ended = run({"tune", "model.onnx", "--max-tyme", "5m"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_NE(ended.err.find("error: "), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("--max-time"), std::string::npos) << ended.err;
}

TEST(Program, an_empty_value_is_refused) {
  const auto ended = run({"history", "--db", ""});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("the value is empty"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace ridgeline::app
