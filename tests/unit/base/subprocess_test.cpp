// SPDX-License-Identifier: Apache-2.0
#include "base/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ridgeline::base {
namespace {

Result<Subprocess> shell(const std::string& script) { return Subprocess::spawn({.argv = {"sh", "-c", script}}); }

std::string read_all(int fd) {
  std::string text;
  char chunk[4096];
  for (;;) {
    pollfd event{fd, POLLIN, 0};
    ::poll(&event, 1, 5000);
    const auto got = ::read(fd, chunk, sizeof chunk);
    if (got <= 0) return text;
    text.append(chunk, static_cast<std::size_t>(got));
  }
}

TEST(Subprocess, tells_exit_codes_from_signals) {
  auto exits = shell("exit 7");
  ASSERT_TRUE(exits) << exits.error().message;
  const auto code = exits->wait();
  EXPECT_EQ(code.exit_code, 7);
  EXPECT_FALSE(code.signal);
  auto dies = shell("kill -SEGV $$");
  ASSERT_TRUE(dies);
  const auto signal = dies->wait();
  EXPECT_EQ(signal.signal, SIGSEGV);
  EXPECT_FALSE(signal.exit_code);
}

TEST(Subprocess, reports_what_the_child_used) {
  auto child = shell("exit 0");
  ASSERT_TRUE(child);
  EXPECT_GT(child->wait().usage.peak_rss_bytes, 100 * 1024);
}

TEST(Subprocess, captures_stdout_and_stderr_in_one_pipe) {
  auto child = shell("echo out; echo err >&2");
  ASSERT_TRUE(child);
  EXPECT_EQ(read_all(child->output_fd()), "out\nerr\n");
}

TEST(Subprocess, gives_the_child_an_empty_stdin_and_a_group_of_its_own) {
  auto child = shell("cat && exit 5");
  ASSERT_TRUE(child);
  EXPECT_EQ(::getpgid(child->pid()), child->pid());
  EXPECT_EQ(child->wait().exit_code, 5);
}

TEST(Subprocess, an_attached_child_stays_in_our_group_and_outlives_its_object) {
  pid_t pid = 0;
  {
    auto child = Subprocess::spawn({.argv = {"sleep", "30"}, .attached = true});
    ASSERT_TRUE(child) << child.error().message;
    pid = child->pid();
    EXPECT_EQ(::getpgid(pid), ::getpgid(0));
    EXPECT_EQ(child->output_fd(), -1);
    EXPECT_FALSE(child->poll());
  }
  EXPECT_EQ(::kill(pid, 0), 0);
  ::kill(pid, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  auto ends = Subprocess::spawn({.argv = {"sh", "-c", "exit 6"}, .attached = true});
  ASSERT_TRUE(ends);
  EXPECT_EQ(ends->wait().exit_code, 6);
}

TEST(Subprocess, sets_variables_on_top_of_the_environment) {
  ::setenv("RL_INHERITED", "old", 1);
  auto child = Subprocess::spawn({.argv = {"sh", "-c", "echo $RL_INHERITED $RL_ADDED"},
                                  .environment = {{"RL_INHERITED", "new"}, {"RL_ADDED", "1"}}});
  ASSERT_TRUE(child);
  EXPECT_EQ(read_all(child->output_fd()), "new 1\n");
}

TEST(Subprocess, names_a_program_that_cannot_be_started) {
  const auto missing = Subprocess::spawn({.argv = {"/nonexistent/program"}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_NE(missing.error().message.find("/nonexistent/program"), std::string::npos);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  const auto folder = Subprocess::spawn({.argv = {"/tmp"}});
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::io);
  EXPECT_FALSE(Subprocess::spawn({}));
}

TEST(Subprocess, passes_descriptors_even_when_numbers_overlap) {
  int first[2];
  int second[2];
  ASSERT_EQ(::pipe2(first, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(second, O_CLOEXEC), 0);
  // Each one's target is the other one's number in the parent.
  const std::string script = fmt::format("echo one >&{}; echo two >&{}", second[1], first[1]);
  auto child = Subprocess::spawn(
      {.argv = {"bash", "-c", script}, .file_descriptors = {{first[1], second[1]}, {second[1], first[1]}}});
  ASSERT_TRUE(child) << child.error().message;
  child->wait();
  ::close(first[1]);
  ::close(second[1]);
  EXPECT_EQ(read_all(first[0]), "one\n");
  EXPECT_EQ(read_all(second[0]), "two\n");
  ::close(first[0]);
  ::close(second[0]);
}

TEST(Subprocess, passes_the_standard_input_on_under_another_number) {
  int input[2];
  ASSERT_EQ(::pipe2(input, O_CLOEXEC), 0);
  const int own = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  ASSERT_EQ(::dup2(input[0], STDIN_FILENO), STDIN_FILENO);
  ASSERT_EQ(::write(input[1], "frames\n", 7), 7);
  ::close(input[1]);
  auto child = Subprocess::spawn({.argv = {"sh", "-c", "cat <&5; cat"}, .file_descriptors = {{STDIN_FILENO, 5}}});
  if (own >= 0) ::dup2(own, STDIN_FILENO);
  ::close(own);
  ::close(input[0]);
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_EQ(read_all(child->output_fd()), "frames\n");
}

TEST(Subprocess, leaks_no_other_descriptor) {
  const int leaky = ::open("/dev/null", O_RDONLY);
  auto child = shell(fmt::format("test -e /proc/self/fd/{} && echo leaked || echo closed", leaky));
  ASSERT_TRUE(child);
  EXPECT_EQ(read_all(child->output_fd()), "closed\n");
  ::close(leaky);
}

TEST(Subprocess, limits_the_address_space_and_core_dumps) {
  auto child = Subprocess::spawn(
      {.argv = {"bash", "-c", "ulimit -v; ulimit -c"}, .address_space_bytes = std::uint64_t{512} << 20U});
  ASSERT_TRUE(child);
  EXPECT_EQ(read_all(child->output_fd()), "524288\n0\n");
}

TEST(Subprocess, wait_for_gives_up_and_poll_does_not_block) {
  auto child = shell("sleep 60");
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->poll());
  EXPECT_FALSE(child->wait_for(std::chrono::milliseconds(30)));
  child->signal_group(SIGTERM);
  const auto status = child->wait_for(std::chrono::seconds(10));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->signal, SIGTERM);
  EXPECT_EQ(child->poll()->signal, SIGTERM);
}

TEST(Subprocess, the_destructor_kills_the_whole_group_and_reaps) {
  pid_t pid = 0;
  {
    auto child = shell("sleep 60 & sleep 60");
    ASSERT_TRUE(child);
    pid = child->pid();
    auto moved = std::move(*child);
    EXPECT_EQ(moved.pid(), pid);
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace ridgeline::base
