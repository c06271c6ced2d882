// SPDX-License-Identifier: Apache-2.0
// The recorder that waits in a process (host/recorder_socket.hpp), and what wakes it.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/subprocess.hpp"
#include "execute/idle_recorder.hpp"
#include "host/processes.hpp"
#include "host/recorder_socket.hpp"
#include "inject_fixture.hpp"

namespace ridgeline {
namespace {

using namespace std::chrono_literals;
using execute::IdleRecorder;

class InjectIdleTest : public test::InjectFixture {
 protected:
  void SetUp() override {
    sockets_ = (folder_ / "run" / "ridgeline").string();
    std::filesystem::create_directory(folder_ / "run");
    ::setenv("XDG_RUNTIME_DIR", (folder_ / "run").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("XDG_RUNTIME_DIR"); }

  /// The program with a recorder that waits.
  base::Subprocess start(std::vector<std::string> arguments,
                         std::vector<std::pair<std::string, std::string>> more = {}) {
    arguments.insert(arguments.begin(), program_);
    std::vector<std::pair<std::string, std::string>> environment{{host::kIdleVariable, sockets_},
                                                                 {"CUDA_INJECTION64_PATH", RL_TEST_INJECT},
                                                                 {"NVTX_INJECTION64_PATH", RL_TEST_INJECT}};
    environment.insert(environment.end(), more.begin(), more.end());
    auto child = base::Subprocess::spawn({.argv = arguments, .environment = environment});
    EXPECT_TRUE(child);
    wait_for([&] { return std::filesystem::exists(host::recorder_socket(sockets_, child->pid())); });
    return *std::move(child);
  }
  template <typename Condition>
  static bool wait_for(Condition condition) {
    for (const auto end = std::chrono::steady_clock::now() + 10s; std::chrono::steady_clock::now() < end;
         std::this_thread::sleep_for(5ms))
      if (condition()) return true;
    return false;
  }
  /// Wakes it, and reads what was recorded.
  trace::Trace record(std::int64_t pid, const std::string& options) {
    clear();
    const auto recorder = IdleRecorder::find(pid);
    EXPECT_TRUE(recorder) << recorder.error().message;
    const auto end = recorder->record(folder_.path().string(), options);
    EXPECT_TRUE(end) << end.error().message;
    if (end) end_ = *end;
    return trace();
  }

  std::string sockets_;
  execute::WokenEnd end_;
};

TEST_F(InjectIdleTest, a_process_is_recorded_as_often_as_it_is_woken_and_ends_as_without) {
  auto child = start({"serves", "4000"});
  EXPECT_TRUE(files(".rltrace").empty());
  for (int i = 0; i < 3; ++i) {
    const auto trace = record(child.pid(), "duration_s=0.3");
    EXPECT_GT(trace.kernels.size(), 10U);
    EXPECT_EQ(trace.devices.size(), 1U);
    EXPECT_GT(count(trace, "forward"), 5U);
    EXPECT_GT(count(trace, "registered"), 5U);  // a name that NVTX knows since before
    EXPECT_GT(count(trace, "ProfilerStep#2"), 0U);
    EXPECT_TRUE(trace.notes.empty());
    auto facts = this->facts();
    EXPECT_EQ(facts["state"], "recording");
    EXPECT_EQ(facts["finished"], "1");
    EXPECT_EQ(std::stoul(facts["kernels"]), trace.kernels.size());
    EXPECT_FALSE(end_.process_ended || end_.is_lost || end_.is_interrupted);
    // All of it is of this recording.
    const auto begun = std::stoll(facts["begun_ns"]);
    for (const auto start : trace.kernels.start_ns) EXPECT_GE(start, begun);
    for (const auto start : trace.ranges.start_ns) EXPECT_GE(start, begun);
  }
  const auto status = child.wait();
  EXPECT_EQ(status.exit_code, 7);
  EXPECT_FALSE(std::filesystem::exists(host::recorder_socket(sockets_, child.pid())));
}

TEST_F(InjectIdleTest, nothing_is_switched_on_in_cupti_before_and_after) {
  auto child = start({"idle_records", "3000"});
  EXPECT_GT(record(child.pid(), "duration_s=0.2").kernels.size(), 0U);
  EXPECT_EQ(child.wait().exit_code, 0);
}

TEST_F(InjectIdleTest, steps_choose_what_is_recorded) {
  auto child = start({"serves", "3000"});
  const auto trace = record(child.pid(), "warmup_steps=2;steps=5;duration_s=20");
  EXPECT_EQ(trace.kernels.size(), 10U);
  EXPECT_EQ(count(trace, "step"), 5U);
  EXPECT_EQ(facts()["recorded_steps"], "5");
  child.signal_group(SIGKILL);
}

TEST_F(InjectIdleTest, the_end_of_the_process_keeps_what_was_recorded) {
  auto child = start({"serves", "500"});
  const auto trace = record(child.pid(), "duration_s=20");
  EXPECT_TRUE(end_.process_ended);
  EXPECT_GT(trace.kernels.size(), 10U);
  EXPECT_EQ(facts()["finished"], "1");
  EXPECT_EQ(child.wait().exit_code, 7);
}

TEST_F(InjectIdleTest, a_killed_process_keeps_what_was_written) {
  auto child = start({"serves", "20000"});
  std::thread killer([&] {
    std::this_thread::sleep_for(1'500ms);
    ::kill(child.pid(), SIGKILL);
  });
  std::thread reaper([&] { child.wait(); });
  const auto trace = record(child.pid(), "duration_s=20");
  killer.join();
  reaper.join();
  EXPECT_TRUE(end_.process_ended);
  EXPECT_GT(count(trace, "forward"), 10U);  // the stand-in for CUPTI delivers kernels at the end alone
  EXPECT_EQ(facts()["finished"], "");
}

TEST_F(InjectIdleTest, a_client_that_is_gone_leaves_no_recording_behind) {
  auto child = start({"serves", "3000"});
  const int client = host::connect_recorder(host::recorder_socket(sockets_, child.pid()));
  const auto request = host::WakeRequest{folder_.path().string(), "duration_s=60"}.text();
  EXPECT_EQ(::write(client, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  EXPECT_TRUE(wait_for([&] { return !files(".facts").empty(); }));
  // A second client is refused meanwhile.
  const auto busy = IdleRecorder::find(child.pid())->record(folder_.path().string(), "duration_s=1");
  ASSERT_FALSE(busy);
  EXPECT_NE(busy.error().message.find("is being recorded already, by process " + std::to_string(::getpid())),
            std::string::npos)
      << busy.error().message;
  ::close(client);
  EXPECT_TRUE(wait_for([&] { return facts()["finished"] == "1"; }));
  EXPECT_GT(record(child.pid(), "duration_s=0.2").kernels.size(), 0U);
  child.signal_group(SIGKILL);
}

TEST_F(InjectIdleTest, faults_of_the_recording_leave_the_program_alone) {
  auto child = start({"serves", "3000"});
  const auto recorder = IdleRecorder::find(child.pid());
  ASSERT_TRUE(recorder);
  const auto nowhere = recorder->record("/nowhere/at/all", "duration_s=1");
  ASSERT_FALSE(nowhere);
  EXPECT_NE(nowhere.error().message.find("cannot write to /nowhere/at/all"), std::string::npos);
  const int client = host::connect_recorder(host::recorder_socket(sockets_, child.pid()));
  EXPECT_EQ(::write(client, "nonsense\n\n", 10), 10);
  std::string answer(64, '\0');
  answer.resize(static_cast<std::size_t>(::read(client, answer.data(), answer.size())));
  EXPECT_EQ(answer, "refused request\n");
  ::close(client);
  const auto trace = record(child.pid(), "duration_s=20;max_events=50");
  EXPECT_EQ(facts()["state"], "stopped_full");
  EXPECT_GT(trace.kernels.size(), 0U);
  EXPECT_EQ(child.wait().exit_code, 7);
}

TEST_F(InjectIdleTest, a_child_has_no_copy_of_the_socket_and_names_its_parent) {
  auto child = start({"serves", "2500", "forks"});
  pid_t forked = 0;
  ASSERT_TRUE(wait_for([&] {
    for (const auto pid : host::Processes().all())
      if (const auto stat = host::Processes().stat(pid); stat && stat->parent == child.pid()) forked = pid;
    return forked != 0;
  }));
  const auto of_child = IdleRecorder::find(forked);
  ASSERT_FALSE(of_child);
  EXPECT_NE(of_child.error().message.find("its parent " + std::to_string(child.pid()) + " has a recorder"),
            std::string::npos)
      << of_child.error().message;
  EXPECT_GT(record(child.pid(), "duration_s=0.2").kernels.size(), 0U);
  ::kill(child.pid(), SIGKILL);
  child.wait();
  const int client = host::connect_recorder(host::recorder_socket(sockets_, child.pid()));
  EXPECT_LT(client, 0);
}

TEST_F(InjectIdleTest, a_program_that_takes_the_process_over_has_a_recorder_of_its_own) {
  auto child = start({"serves", "400", "execs"});
  const auto path = host::recorder_socket(sockets_, child.pid());
  struct stat before {};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  ASSERT_TRUE(wait_for([&] {
    struct stat now {};
    return ::stat(path.c_str(), &now) == 0 && now.st_ino != before.st_ino;
  }));
  EXPECT_GT(record(child.pid(), "duration_s=0.1").kernels.size(), 0U);
  EXPECT_EQ(child.wait().exit_code, 7);
}

TEST_F(InjectIdleTest, sockets_are_the_users_alone_and_stale_ones_are_removed) {
  auto first = start({"serves", "20000"});
  struct stat seen {};
  ASSERT_EQ(::stat(sockets_.c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777U, 0700U);
  const auto path = host::recorder_socket(sockets_, first.pid());
  ASSERT_EQ(::stat(path.c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777U, 0600U);
  ::kill(first.pid(), SIGKILL);
  first.wait();
  EXPECT_TRUE(std::filesystem::exists(path));
  const auto gone = IdleRecorder::find(first.pid());
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("no such process"), std::string::npos);
  EXPECT_TRUE(execute::idle_recorders().empty());
  // Open to others, the folder is not used.
  ::chmod(sockets_.c_str(), 0755);
  EXPECT_NE(host::check_recorder_folder(sockets_), "");
  EXPECT_FALSE(execute::make_idle_folder());
  ::chmod(sockets_.c_str(), 0700);
  EXPECT_EQ(host::make_recorder_folder(sockets_), "");
}

TEST_F(InjectIdleTest, a_process_without_one_is_named_with_what_to_do) {
  const auto own = IdleRecorder::find(::getpid());
  ASSERT_FALSE(own);
  EXPECT_NE(own.error().message.find("has no recorder"), std::string::npos);
  EXPECT_NE(own.error().hint.find("ridgeline profile --idle -- COMMAND"), std::string::npos);
  EXPECT_FALSE(IdleRecorder::find(0));
  EXPECT_FALSE(IdleRecorder::find(1LL << 40));
}

TEST_F(InjectIdleTest, a_recorded_program_does_not_wait) {
  EXPECT_EQ(run("plain", "", std::string(host::kIdleVariable) + "='" + sockets_ + "'"), 3);
  EXPECT_EQ(trace().kernels.size(), 6U);
  EXPECT_TRUE(host::recorder_processes(sockets_).empty());
}

TEST_F(InjectIdleTest, a_folder_that_is_too_long_for_a_socket_is_not_used) {
  EXPECT_EQ(host::recorder_folder(), sockets_);
  ::setenv("XDG_RUNTIME_DIR", ("/run/" + std::string(100, 'x')).c_str(), 1);
  EXPECT_EQ(host::recorder_folder(), "/tmp/ridgeline-" + std::to_string(::geteuid()));
}

TEST_F(InjectIdleTest, cuda_that_starts_during_the_recording_is_recorded_from_then_on) {
  auto child = start({"starts_later", "1500"});
  const auto trace = record(child.pid(), "duration_s=1.2");
  EXPECT_GT(count(trace, "forward"), 10U);
  EXPECT_GT(trace.kernels.size(), 10U);
  EXPECT_LT(trace.kernels.size(), 2 * count(trace, "forward") - 10);
  EXPECT_EQ(facts()["uses_cuda"], "1");
  child.wait();
}

TEST(WakeRequest, is_read_as_it_was_written) {
  const host::WakeRequest request{"/tmp/a b", "steps=2;range=x=y"};
  const auto read = host::WakeRequest::parse(request.text());
  EXPECT_EQ(read.folder, request.folder);
  EXPECT_EQ(read.options, request.options);
  EXPECT_EQ(host::WakeRequest::parse("folder=relative\n\n").folder, "");
  EXPECT_EQ(host::WakeRequest::parse("").folder, "");
}

}  // namespace
}  // namespace ridgeline
