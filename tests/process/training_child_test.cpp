// SPDX-License-Identifier: Apache-2.0
// Training processes that work, die, hang, lie and print, written in Python without torch.
#include "execute/training_child.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <string>

#include <signal.h>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "execute/process_tree.hpp"
#include "ridgeline_train/messages.hpp"

namespace ridgeline::execute {
namespace {

/// `body` handles one request: `op`, `request`; it calls answer(...) or does something bad.
std::string script(const std::string& body) {
  return "import json, os, sys, time, signal, subprocess\n"
         "fd = int(os.environ['RIDGELINE_CHANNEL_FD'])\n"
         "file = os.fdopen(fd, 'r', closefd=False)\n"
         "def answer(message): os.write(fd, (json.dumps(message) + '\\n').encode())\n"
         "def row(): return [1.0, 0.5, 2.0, 4.0, 1.0, 0.1, 8.6]\n"
         "for line in file:\n"
         "    request = json.loads(line)\n"
         "    op = request['op']\n" +
         body;
}

JsonChildOptions options_of(const std::string& body) {
  JsonChildOptions options;
  options.command = {"python3", "-c", script(body)};
  return options;
}

schema::TrainingTrialSpec quick_spec() {
  schema::TrainingTrialSpec spec;
  spec.plan.prepare_limit_s = 20;
  spec.plan.step_limit_s = 20;
  return spec;
}

const std::string kGood =
    "    if op == 'run': answer({'ok': {'steps': [row() for _ in range(request['steps'])], 'wall_ms': 8.6 * "
    "request['steps']}})\n"
    "    elif op == 'resources': answer({'ok': {'peak_reserved_gb': 1.5, 'loss_not_finite': True, 'notes': "
    "{'several_devices': {'code': 'ridgeline_train.several_devices', 'arguments': {'model': 'DataParallel'}, "
    "'severity': 'note'}}}})\n"
    "    else: answer({'ok': {}})\n"
    "    if op == 'close': break\n";

TEST(TrainingChild, runs_a_trial_from_start_to_end) {
  TrainingChild child(options_of(kGood));
  ASSERT_TRUE(child.prepare(quick_spec()));
  const auto window = child.run(3);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->steps.size(), 3U);
  EXPECT_EQ(window->steps[0].backward_ms, 4.0);
  ASSERT_TRUE(child.reset_peaks());
  const auto resources = child.resources();
  ASSERT_TRUE(resources);
  EXPECT_EQ(resources->peak_reserved_gb, 1.5);
  EXPECT_TRUE(std::isnan(*resources->last_loss));
  EXPECT_EQ(resources->notes.at("several_devices"), ridgeline_train::messages::several_devices("DataParallel"));
  child.close();
}

TEST(TrainingChild, what_the_user_prints_does_not_disturb) {
  TrainingChild child(
      options_of("    print('{\"ok\": 1}', flush=True); sys.stderr.write('x' * 300000); sys.stderr.flush()\n" + kGood));
  ASSERT_TRUE(child.prepare(quick_spec()));
  EXPECT_TRUE(child.run(2));
}

TEST(TrainingChild, a_death_is_a_crash_with_the_last_output) {
  TrainingChild child(
      options_of("    sys.stderr.write('about to go\\n'); sys.stderr.flush(); os.kill(os.getpid(), signal.SIGSEGV)\n"));
  const auto done = child.prepare(quick_spec());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.code, base::ErrorCode::crashed);
  EXPECT_EQ(done.error().signal, SIGSEGV);
  EXPECT_NE(done.error().error.message.find("SIGSEGV"), std::string::npos) << done.error().error.message;
  EXPECT_NE(done.error().output_tail.find("about to go"), std::string::npos);
}

TEST(TrainingChild, a_kill_is_no_shortage_of_memory_by_itself) {
  TrainingChild child(options_of("    os.kill(os.getpid(), signal.SIGKILL)\n"));
  const auto done = child.prepare(quick_spec());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.code, base::ErrorCode::crashed);
  EXPECT_EQ(done.error().oom, schema::OomEvidence::none);
}

TEST(TrainingChild, an_exit_code_is_told) {
  TrainingChild child(options_of("    os._exit(7)\n"));
  const auto done = child.prepare(quick_spec());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().exit_code, 7);
  EXPECT_EQ(done.error().error.code, base::ErrorCode::crashed);
}

bool is_there(const std::string& marker) {
  auto search = base::Subprocess::spawn({.argv = {"pgrep", "-f", "^sleep " + marker},
                                         .environment = {},
                                         .file_descriptors = {},
                                         .address_space_bytes = std::nullopt});
  return search && search->wait().exit_code == 0;
}

TEST(TrainingChild, a_hang_ends_at_its_deadline_with_all_that_it_started) {
  const std::string marker = std::to_string(::getpid()) + "0173";
  TrainingChild child(options_of("    subprocess.Popen(['sleep', '" + marker + "']); time.sleep(600)\n"));
  auto spec = quick_spec();
  spec.plan.prepare_limit_s = 1.5;
  const auto begin = base::system_clock().now();
  const auto done = child.prepare(spec);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.code, base::ErrorCode::timeout);
  EXPECT_LT(base::to_seconds(base::system_clock().now() - begin), 10);
  EXPECT_FALSE(is_there(marker));
}

/// Tells a phase and, when asked, where it is; then waits for ever.
const std::string kHangsInAPhase =
    "    signal.signal(signal.SIGUSR1, lambda *_: answer({'doing': 'importing train.py', 'at': 'train.py:2 in "
    "make'}))\n"
    "    answer({'doing': 'importing train.py'})\n"
    "    while True: time.sleep(600)\n";

TEST(TrainingChild, a_hang_is_told_by_its_phase_and_place) {
  auto options = options_of(kHangsInAPhase);
  std::string waited_for;
  options.waiting = [&](const std::string& doing, double) { waited_for = doing; };
  TrainingChild child(options);
  auto spec = quick_spec();
  spec.plan.prepare_limit_s = 3;
  const auto done = child.prepare(spec);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.message,
            "no answer from the training process within 3 s, in phase \"importing train.py\" at train.py:2 in make");
  EXPECT_EQ(waited_for, "importing train.py");
}

TEST(TrainingChild, the_runs_time_ends_it_before_its_own_limit) {
  auto options = options_of(kHangsInAPhase);
  options.deadline = {base::system_clock().now() + base::from_seconds(3), "--max-time 3s was over"};
  TrainingChild child(options);
  auto spec = quick_spec();
  spec.plan.prepare_limit_s = 600;
  const auto done = child.prepare(spec);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.code, base::ErrorCode::timeout);
  EXPECT_EQ(done.error().error.message,
            "--max-time 3s was over, in phase \"importing train.py\" at train.py:2 in make");
}

TEST(TrainingChild, who_does_not_say_where_it_is_is_told_by_its_last_phase) {
  TrainingChild child(
      options_of("    signal.signal(signal.SIGUSR1, signal.SIG_IGN)\n"
                 "    answer({'doing': 'the first step'})\n    while True: time.sleep(600)\n"));
  auto spec = quick_spec();
  spec.plan.prepare_limit_s = 3;
  const auto done = child.prepare(spec);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.message, "no answer from the training process within 3 s, in phase \"the first step\"");
}

TEST(TrainingChild, phases_do_not_disturb_a_trial) {
  TrainingChild child(options_of("    answer({'doing': op})\n" + kGood));
  ASSERT_TRUE(child.prepare(quick_spec()));
  EXPECT_TRUE(child.run(2));
}

/// Starts `sleep marker`, deaf to SIGTERM, in a session of its own; `waits` until it is there.
std::string start_detached(const std::string& marker, const std::string& how = "") {
  return "    subprocess.Popen(['sh', '-c', 'trap \"\" TERM INT HUP; exec sleep " + marker +
         "'], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL" + how +
         ")\n"
         "    while subprocess.call(['pgrep', '-f', '^sleep " +
         marker + "'], stdout=subprocess.DEVNULL) != 0: time.sleep(0.01)\n";
}

TEST(TrainingChild, a_cancel_ends_what_made_itself_a_session_of_its_own) {
  const std::string marker = std::to_string(::getpid()) + "0174";
  bool cancelled = false;
  auto options =
      options_of("    if op == 'run': time.sleep(600)\n" + start_detached(marker) + "    answer({'ok': {}})\n");
  options.cancelled = [&] { return cancelled; };
  TrainingChild child(options);
  ASSERT_TRUE(child.prepare(quick_spec()));
  EXPECT_TRUE(is_there(marker));
  cancelled = true;
  const auto done = child.run(1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.code, base::ErrorCode::cancelled);
  EXPECT_FALSE(is_there(marker));
}

TEST(TrainingChild, a_cleared_environment_hides_no_grandchild) {
  const std::string marker = std::to_string(::getpid()) + "0175";
  TrainingChild child(
      options_of(start_detached(marker, ", env={'PATH': os.environ['PATH']}") + "    answer({'ok': {}})\n"));
  ASSERT_TRUE(child.prepare(quick_spec()));
  child.close();  // unanswered: another one is started meanwhile
  EXPECT_FALSE(is_there(marker));
}

TEST(TrainingChild, a_death_leaves_no_orphans) {
  const std::string marker = std::to_string(::getpid()) + "0176";
  TrainingChild child(options_of(start_detached(marker) + "    os.kill(os.getpid(), signal.SIGKILL)\n"));
  EXPECT_FALSE(child.prepare(quick_spec()));
  EXPECT_FALSE(is_there(marker));
}

TEST(EndDetached, misses_nothing_that_exec_is_still_loading) {
  for (int round = 0; round < 100; ++round) {
    auto mark = "RIDGELINE_TEST=" + mark_of_a_life();
    std::string program = "sleep";
    std::string seconds = "60";
    std::array<char*, 3> arguments{program.data(), seconds.data(), nullptr};
    std::array<char*, 2> environment{mark.data(), nullptr};
    pid_t process = 0;
    ASSERT_EQ(::posix_spawnp(&process, "sleep", nullptr, nullptr, arguments.data(), environment.data()), 0);
    EXPECT_EQ(end_detached(std::nullopt, mark), 0);
    bool is_gone = false;  // what has been killed may take a moment
    for (int look = 0; look < 100 && !is_gone; ++look) {
      is_gone = ::waitpid(process, nullptr, WNOHANG) == process;
      if (!is_gone) ::usleep(1000);
    }
    EXPECT_TRUE(is_gone) << round;
    if (is_gone) continue;
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
  }
}

TEST(TrainingChild, the_samples_are_held_against_the_batch) {
  TrainingChild child(
      options_of("    answer({'ok': {'steps': [row()], 'wall_ms': 8.6, 'samples': request.get('steps') and 8}})\n"));
  auto spec = quick_spec();
  spec.settings.batch = 8;
  ASSERT_TRUE(child.prepare(spec));
  EXPECT_TRUE(child.run(1));
  child.close();
  spec.settings.batch = 512;
  ASSERT_TRUE(child.prepare(spec));
  const auto window = child.run(1);
  ASSERT_FALSE(window);
  EXPECT_EQ(window.error().error.message, "1 steps trained 8 samples, expected 512 each");
}

TEST(TrainingChild, garbage_is_refused) {
  for (const auto* body :
       {"    os.write(fd, b'\\x00\\xff not json\\n')\n", "    answer([1, 2])\n", "    answer({'error': 3})\n"}) {
    TrainingChild child(options_of(body));
    const auto done = child.prepare(quick_spec());
    ASSERT_FALSE(done) << body;
    EXPECT_EQ(done.error().error.code, base::ErrorCode::corrupt) << body;
  }
}

TEST(TrainingChild, steps_of_the_wrong_form_are_refused) {
  for (const auto* steps : {"[[1, 2]]", "[['a'] * 7]", "'none'"}) {
    TrainingChild child(options_of(std::string("    answer({'ok': {} if op == 'prepare' else {'steps': ") + steps +
                                   ", 'wall_ms': 1}})\n"));
    ASSERT_TRUE(child.prepare(quick_spec()));
    const auto window = child.run(1);
    ASSERT_FALSE(window) << steps;
    EXPECT_EQ(window.error().error.code, base::ErrorCode::corrupt) << steps;
  }
}

TEST(TrainingChild, an_exception_is_judged_by_its_facts) {
  TrainingChild child(
      options_of("    answer({'error': {'type': 'torch.OutOfMemoryError', 'bases': ['RuntimeError'], 'message': 'CUDA "
                 "out of memory'}})\n"));
  const auto done = child.prepare(quick_spec());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.code, base::ErrorCode::out_of_memory);
  EXPECT_EQ(done.error().oom, schema::OomEvidence::type);
}

TEST(TrainingChild, a_signal_to_us_ends_it) {
  auto options = options_of("    time.sleep(600)\n");
  options.cancelled = [] { return true; };
  TrainingChild child(options);
  const auto done = child.prepare(quick_spec());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.code, base::ErrorCode::cancelled);
}

TEST(TrainingChild, a_missing_interpreter_is_named) {
  JsonChildOptions options;
  options.command = {"no-such-python", "-m", "ridgeline_train"};
  TrainingChild child(options);
  const auto done = child.prepare(quick_spec());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.code, base::ErrorCode::not_found);
  EXPECT_NE(done.error().error.message.find("no-such-python"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::execute
