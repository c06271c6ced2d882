// SPDX-License-Identifier: Apache-2.0
#include "execute/output_tail.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "base/scratch_folder.hpp"

namespace ridgeline::execute {
namespace {

TEST(OutputTail, keeps_the_last_4_kib) {
  OutputTail tail;
  tail.append(std::string(10'000, 'a'));
  tail.append("the end\n");
  EXPECT_EQ(tail.text().size(), OutputTail::kMaxBytes);
  EXPECT_EQ(tail.last_line().substr(tail.last_line().size() - 7), "the end");
}

TEST(OutputTail, keeps_everything_in_a_log) {
  const base::ScratchFolder folder("tail");
  const auto log = folder.path() / "logs" / "one.log";
  OutputTail tail;
  tail.keep_in(log);
  tail.append(std::string(10'000, 'a'));
  tail.append("the end\n");
  EXPECT_EQ(std::filesystem::file_size(log), 10'008U);
  tail.keep_in("/proc/no such folder/log");  // done without
  tail.append("more");
  EXPECT_EQ(tail.text().substr(tail.text().size() - 4), "more");
}

TEST(OutputTail, finds_the_last_line_that_is_not_blank) {
  OutputTail tail;
  EXPECT_EQ(tail.last_line(), "");
  tail.append("first\nsecond\n\n");
  EXPECT_EQ(tail.last_line(), "second");
}

TEST(OutputTail, rubbish_becomes_valid_text_within_the_limit) {
  OutputTail tail;
  std::string rubbish;
  for (int i = 0; i < 8192; ++i) rubbish.push_back(static_cast<char>(i * 37));
  tail.append(rubbish);
  const auto text = tail.text();
  EXPECT_LE(text.size(), OutputTail::kMaxBytes);
  EXPECT_NO_THROW((void)nlohmann::json(text).dump());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(OutputTail, drains_a_pipe_and_notices_its_end) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
  OutputTail tail;
  EXPECT_TRUE(tail.drain(fds[0]));
  ASSERT_EQ(::write(fds[1], "hello", 5), 5);
  EXPECT_TRUE(tail.drain(fds[0]));
  EXPECT_EQ(tail.text(), "hello");
  ::close(fds[1]);
  EXPECT_FALSE(tail.drain(fds[0]));
  ::close(fds[0]);
}

}  // namespace
}  // namespace ridgeline::execute
