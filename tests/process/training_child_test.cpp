// SPDX-License-Identifier: Apache-2.0
// Training processes that work, die, hang, lie and print, written in Python without torch.
#include "execute/training_child.hpp"

#include <cmath>
#include <string>

#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.hpp"

namespace ridgeline::execute {
namespace {

/// `body` handles one request: `op`, `request`; it calls answer(...) or does something bad.
std::string script(const std::string& body) {
  return "import json, os, sys, time, signal, subprocess\n"
         "fd = int(os.environ['RIDGELINE_TRAIN_FD'])\n"
         "file = os.fdopen(fd, 'r', closefd=False)\n"
         "def answer(message): os.write(fd, (json.dumps(message) + '\\n').encode())\n"
         "def row(): return [1.0, 0.5, 2.0, 4.0, 1.0, 0.1, 8.6]\n"
         "for line in file:\n"
         "    request = json.loads(line)\n"
         "    op = request['op']\n" +
         body;
}

TrainingChildOptions options_of(const std::string& body) {
  TrainingChildOptions options;
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
    "    elif op == 'resources': answer({'ok': {'peak_reserved_gb': 1.5, 'loss_not_finite': True}})\n"
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
  auto search = base::Subprocess::spawn({.argv = {"pgrep", "-f", "sleep " + marker},
                                         .environment = {},
                                         .file_descriptors = {},
                                         .address_space_bytes = std::nullopt});
  ASSERT_TRUE(search);
  EXPECT_EQ(search->wait().exit_code, 1);  // nothing left of it
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
  TrainingChildOptions options;
  options.command = {"no-such-python", "-m", "ridgeline_train"};
  TrainingChild child(options);
  const auto done = child.prepare(quick_spec());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error.code, base::ErrorCode::not_found);
  EXPECT_NE(done.error().error.message.find("no-such-python"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::execute
