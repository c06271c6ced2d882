// SPDX-License-Identifier: Apache-2.0
// Real commands under a real supervisor: that fail, hang, hide, flood and refuse to end.
#include "execute/command_runner.hpp"

#include <signal.h>

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "execute/output_log.hpp"
#include "execute/process_tree.hpp"
#include "fakes/fake_nvml.hpp"
#include "fakes/temporary_folder.hpp"
#include "fakes/words.hpp"

namespace ridgeline::execute {
namespace {

constexpr double kGoneWithinS = 5;

class CommandRunnerProcess : public testing::Test {
 protected:
  base::Result<CommandResult> run(const std::string& script, double limit_s = 0) {
    CommandRequest request;
    request.argv = {"/bin/sh", "-c", script};
    request.environment = environment_;
    request.log = folder_.path() / "output.log";
    request.limit_s = limit_s;
    return run_command(request, options_, gpus_);
  }
  [[nodiscard]] std::string output() const {
    return base::read_file(folder_.path() / "output.log").value_or("no file");
  }
  [[nodiscard]] std::string path(const char* name) const { return (folder_.path() / name).string(); }
  /// The process whose number the script wrote there.
  [[nodiscard]] pid_t pid_in(const char* name) const {
    std::ifstream file(path(name));
    pid_t pid = 0;
    file >> pid;
    return pid;
  }
  static bool alive(pid_t pid) { return ::kill(pid, 0) == 0; }
  static double seconds_of(const std::function<void()>& work) {
    const auto begin = base::system_clock().now();
    work();
    return base::to_seconds(base::system_clock().now() - begin);
  }

  fakes::TemporaryFolder folder_;
  std::vector<std::pair<std::string, std::string>> environment_;
  CommandRunnerOptions options_{{RL_TEST_SUPERVISOR}, {}, {}};
  GpuTally gpus_;
};

TEST_F(CommandRunnerProcess, tells_how_a_command_ended_and_what_it_said) {
  environment_ = {{"WORD", "hello"}};
  const auto result = run("echo $WORD; echo problem >&2; exit 3");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->report.exit_code, 3);
  EXPECT_FALSE(result->report.signal);
  EXPECT_EQ(output(), "hello\nproblem\n");
  EXPECT_EQ(result->output_bytes, 14U);
}

TEST_F(CommandRunnerProcess, a_signal_is_no_exit_code) {
  const auto result = run("kill -SEGV $$");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->report.signal, SIGSEGV);
  EXPECT_FALSE(result->report.exit_code);
}

TEST_F(CommandRunnerProcess, measures_wall_time_cpu_time_and_memory) {
  const auto result = run("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.4");
  ASSERT_TRUE(result);
  EXPECT_GT(result->report.wall_s, 0.4);
  EXPECT_LT(result->report.wall_s, 30);
  EXPECT_GT(result->report.cpu_s, 0.005);
  EXPECT_GT(result->peak_rss_bytes, 500'000);
  EXPECT_GE(result->most_processes, 1U);
}

TEST_F(CommandRunnerProcess, a_program_that_does_not_exist_is_named) {
  CommandRequest request;
  request.argv = {"no-such-program-here"};
  request.log = folder_.path() / "output.log";
  const auto result = run_command(request, options_, gpus_);
  ASSERT_TRUE(result);
  EXPECT_EQ(fakes::text_of(result->report.launch_error),
            "cannot start no-such-program-here: No such file or directory");
}

TEST_F(CommandRunnerProcess, ends_a_hanging_command_at_its_limit) {
  base::Result<CommandResult> result = base::fail(base::ErrorCode::internal, "not run");
  const auto took = seconds_of([&] { result = run("echo $$ > " + path("pid") + "; sleep 1000", 0.3); });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->report.signal, SIGTERM);
  EXPECT_LT(took, 0.3 + 1.5);
  EXPECT_FALSE(alive(pid_in("pid")));
}

TEST_F(CommandRunnerProcess, kills_what_ignores_the_request_to_end) {
  base::Result<CommandResult> result = base::fail(base::ErrorCode::internal, "not run");
  const auto took = seconds_of(
      [&] { result = run("trap '' TERM INT HUP; echo $$ > " + path("pid") + "; while :; do sleep 0.1; done", 0.3); });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->report.signal, SIGKILL);
  EXPECT_LT(took, 0.3 + kGoneWithinS);
  EXPECT_FALSE(alive(pid_in("pid")));
  EXPECT_EQ(result->report.survivors, 0);
}

TEST_F(CommandRunnerProcess, catches_grandchildren_that_left_session_and_parent) {
  // setsid, twice forked, its parent long gone, deaf to SIGTERM.
  const auto script = "(setsid sh -c \"trap '' TERM; echo \\$\\$ > " + path("hidden") +
                      "; while :; do sleep 0.2; done\" > /dev/null 2>&1 &) ; sleep 0.3; sleep 1000";
  base::Result<CommandResult> result = base::fail(base::ErrorCode::internal, "not run");
  const auto took = seconds_of([&] { result = run(script, 0.8); });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(took, 0.8 + kGoneWithinS);
  ASSERT_GT(pid_in("hidden"), 0);
  EXPECT_FALSE(alive(pid_in("hidden")));
}

TEST_F(CommandRunnerProcess, ends_what_a_finished_command_left_behind) {
  const auto result =
      run("(setsid sh -c 'echo $$ > " + path("left") + "; sleep 1000' > /dev/null 2>&1 &); sleep 0.3; echo done");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->report.exit_code, 0);
  EXPECT_GE(result->report.left_behind, 1);
  EXPECT_EQ(result->report.survivors, 0);
  EXPECT_LT(result->report.wall_s, 5);
  ASSERT_GT(pid_in("left"), 0);
  EXPECT_FALSE(alive(pid_in("left")));
}

TEST_F(CommandRunnerProcess, catches_what_changes_its_process_number_all_the_time) {
  // Ends by itself after a while, should it not be caught.
  std::ofstream(path("chain.sh")) << "trap '' TERM\n[ $1 -gt 0 ] || exit\necho $$ > " << path("pid")
                                  << "\nsleep 0.005\nsetsid sh " << path("chain.sh") << " $(($1 - 1)) &\n";
  base::Result<CommandResult> result = base::fail(base::ErrorCode::internal, "not run");
  const auto took = seconds_of([&] { result = run("sh " + path("chain.sh") + " 1000 & sleep 1000", 0.5); });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->report.survivors, 0);
  EXPECT_LT(took, 0.5 + kGoneWithinS);
  const auto last = pid_in("pid");
  ASSERT_GT(last, 0);
  base::system_clock().sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(pid_in("pid"), last);  // nobody goes on
}

TEST_F(CommandRunnerProcess, a_stopped_command_ends_too) {
  const auto result = run("echo $$ > " + path("pid") + "; kill -STOP $$", 0.3);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->timed_out);
  EXPECT_FALSE(alive(pid_in("pid")));
}

TEST_F(CommandRunnerProcess, a_cancel_ends_everything_within_five_seconds) {
  const auto begin = base::system_clock().now();
  options_.cancelled = [&] { return base::to_seconds(base::system_clock().now() - begin) > 0.3; };
  base::Result<CommandResult> result = base::fail(base::ErrorCode::internal, "not run");
  const auto took = seconds_of([&] {
    result = run("for i in 1 2 3 4 5 6; do sh -c \"trap '' TERM; while :; do sleep 0.1; done\" & done; echo $! > " +
                 path("pid") + "; wait");
  });
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->cancelled);
  EXPECT_FALSE(result->timed_out);
  EXPECT_LT(took, 0.3 + kGoneWithinS);
  EXPECT_FALSE(alive(pid_in("pid")));
}

TEST_F(CommandRunnerProcess, a_flood_of_output_neither_blocks_nor_fills_the_disk) {
  constexpr std::size_t kFlood = std::size_t{48} << 20U;
  const auto result = run("echo first; head -c " + std::to_string(kFlood) + " /dev/zero; echo; echo last");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->report.exit_code, 0);
  EXPECT_EQ(result->output_bytes, kFlood + 12);
  EXPECT_EQ(result->output_left_out, result->output_bytes - OutputLog::kHead - OutputLog::kTail);
  const auto kept = output();
  EXPECT_LT(kept.size(), OutputLog::kHead + OutputLog::kTail + 100);
  EXPECT_EQ(kept.substr(0, 6), "first\n");
  EXPECT_EQ(kept.substr(kept.size() - 5), "last\n");
  EXPECT_NE(kept.find("bytes are left out here"), std::string::npos);
}

TEST_F(CommandRunnerProcess, a_killed_supervisor_leaves_nothing) {
  const auto result = run("(setsid sh -c 'echo $$ > " + path("left") +
                          "; sleep 1000' > /dev/null 2>&1 &); sleep 0.3; kill -KILL $PPID; sleep 1000");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::crashed);
  ASSERT_GT(pid_in("left"), 0);
  EXPECT_FALSE(alive(pid_in("left")));
}

TEST_F(CommandRunnerProcess, has_no_terminal_and_a_session_of_its_own) {
  const auto result = run("cut -d' ' -f1,6 /proc/$$/stat; if ( : < /dev/tty ) 2>/dev/null; then echo tty; fi");
  ASSERT_TRUE(result);
  std::istringstream words(output());
  const std::vector<std::string> said{std::istream_iterator<std::string>(words), {}};
  ASSERT_EQ(said.size(), 2U) << output();
  EXPECT_EQ(said[0], said[1]);
}

TEST_F(CommandRunnerProcess, watches_gpus_from_outside) {
  fakes::FakeNvml nvml(RL_TEST_FAKE_NVML);
  const auto api = gpu::NvmlApi::load({RL_TEST_FAKE_NVML});
  ASSERT_TRUE(api);
  const auto uuid = gpu::NvmlDevice(*api, (*api)->device_by_index(0).value()).uuid();
  gpus_ = GpuTally({uuid}, {RL_TEST_FAKE_NVML});
  ASSERT_FALSE(gpus_.empty());
  options_.on_progress = [&](const JobProgress&) { nvml.set(kFakeMemoryUsed, 2'500'000'000); };
  ASSERT_TRUE(run("sleep 0.7"));
  const auto metrics = gpus_.metrics();
  EXPECT_NEAR(metrics.at("gpu_memory_gb"), 2.0, 1e-6);  // above the half GB that was used before
  EXPECT_NEAR(metrics.at("gpu_power_w"), 120, 1e-6);
  EXPECT_GE(metrics.at("gpu_busy"), 0);
  EXPECT_LE(metrics.at("gpu_busy"), 1);
}

TEST_F(CommandRunnerProcess, tells_the_time_with_work_by_gpm_beside_nvml_s_number) {
  fakes::FakeNvml nvml(RL_TEST_FAKE_NVML);
  nvml.script("healthy");
  nvml.set(kFakeMoving, 0);
  gpus_ = GpuTally({"GPU-fake-0"}, {RL_TEST_FAKE_NVML});
  ASSERT_TRUE(run("sleep 0.7"));
  const auto with = gpus_.metrics();
  EXPECT_NEAR(with.at("gpu_busy"), 0.61, 1e-6);
  EXPECT_NEAR(with.at("gpu_util"), 0.87, 1e-6);
  nvml.set(kFakeGpm, 0);
  gpus_ = GpuTally({"GPU-fake-0"}, {RL_TEST_FAKE_NVML});
  ASSERT_TRUE(run("sleep 0.7"));
  const auto without = gpus_.metrics();
  EXPECT_EQ(without.at("gpu_busy"), without.at("gpu_util"));
}

TEST(GpuTally, is_empty_without_a_management_library) {
  GpuTally gpus({"GPU-1"}, {"/no/such/library.so"});
  EXPECT_TRUE(gpus.empty());
  gpus.begin();
  EXPECT_TRUE(gpus.metrics().empty());
}

}  // namespace
}  // namespace ridgeline::execute
