// SPDX-License-Identifier: Apache-2.0
// Which trials share a process; the process is a Python script without torch that tells its number as the last loss.
#include "execute/kept_training_child.hpp"

#include <sys/wait.h>

#include <string>

#include <signal.h>

#include <gtest/gtest.h>

namespace ridgeline::execute {
namespace {

const std::string kScript =
    "import json, os\n"
    "fd = int(os.environ['RIDGELINE_CHANNEL_FD'])\n"
    "def answer(message): os.write(fd, (json.dumps(message) + '\\n').encode())\n"
    "for line in os.fdopen(fd, 'r', closefd=False):\n"
    "    request = json.loads(line)\n"
    "    op = request['op']\n"
    "    if op == 'prepare': batch = request['spec']['settings']['batch']\n"
    "    if op == 'prepare' and batch == 13:\n"
    "        answer({'error': {'type': 'torch.OutOfMemoryError', 'bases': ['RuntimeError'], 'message': 'full'}})\n"
    "    elif op == 'resources': answer({'ok': {'last_loss': os.getpid()}})\n"
    "    elif op == 'release': answer(RELEASE)\n"
    "    else: answer({'ok': {}})\n"
    "    if op == 'close': break\n";

class KeptTrainingChildTest : public ::testing::Test {
 protected:
  static JsonChildOptions options(const std::string& release) {
    auto script = kScript;
    script.replace(script.find("RELEASE"), 7, release);
    JsonChildOptions out;
    out.command = {"python3", "-c", script};
    return out;
  }
  /// The process that served the trial; 0 when it failed.
  static double serve(const KeptTrainingChild& kept, const std::string& device = "cuda:0", int repeat = 0,
                      std::int64_t batch = 64) {
    schema::TrainingTrialSpec spec;
    spec.device = device;
    spec.repeat = repeat;
    spec.settings.batch = batch;
    const auto runner = kept.factory()(spec).value();
    const auto ready = runner->prepare(spec);
    const double pid = ready ? runner->resources()->last_loss.value() : 0;
    runner->close();
    return pid;
  }
  KeptTrainingChild kept_{options("{'ok': {'kept': True}}")};
};

TEST_F(KeptTrainingChildTest, trials_on_a_gpu_share_a_process) {
  EXPECT_FALSE(kept_.waits());
  const double first = serve(kept_);
  EXPECT_GT(first, 0);
  EXPECT_TRUE(kept_.waits());
  EXPECT_EQ(serve(kept_), first);
}

TEST_F(KeptTrainingChildTest, a_failure_ends_it) {
  const double first = serve(kept_);
  EXPECT_EQ(serve(kept_, "cuda:0", 0, 13), 0);
  EXPECT_FALSE(kept_.waits());
  const double next = serve(kept_);
  EXPECT_GT(next, 0);
  EXPECT_NE(next, first);
}

TEST_F(KeptTrainingChildTest, leaders_measured_again_have_a_fresh_one) {
  const double search = serve(kept_);
  const double again = serve(kept_, "cuda:0", 1);
  EXPECT_NE(again, search);
  EXPECT_EQ(serve(kept_, "cuda:0", 1), again);
}

TEST_F(KeptTrainingChildTest, trials_on_a_cpu_have_their_own) {
  const double first = serve(kept_, "cpu");
  EXPECT_FALSE(kept_.waits());
  EXPECT_NE(serve(kept_, "cpu"), first);
}

TEST_F(KeptTrainingChildTest, one_that_forks_serves_trials_on_a_cpu_as_well) {
  const KeptTrainingChild kept(options("{'ok': {'kept': True}}"), KeptTrainingChild::Forks::on_cpu);
  const double first = serve(kept, "cpu");
  EXPECT_TRUE(kept.waits());
  EXPECT_EQ(serve(kept, "cpu"), first);
  EXPECT_EQ(serve(kept), first);
  EXPECT_NE(serve(kept, "cuda:0", 1), first);
}

TEST_F(KeptTrainingChildTest, one_that_forks_outlives_failures_and_repeats) {
  const KeptTrainingChild kept(options("{'ok': {'kept': True}}"), KeptTrainingChild::Forks::all);
  const double first = serve(kept);
  EXPECT_EQ(serve(kept, "cuda:0", 0, 13), 0);
  EXPECT_EQ(serve(kept, "cuda:0", 1), first);
  EXPECT_EQ(serve(kept, "cpu", 2), first);
}

TEST_F(KeptTrainingChildTest, one_that_has_died_meanwhile_is_replaced) {
  const KeptTrainingChild kept(options("{'ok': {'kept': True}}"), KeptTrainingChild::Forks::all);
  const double first = serve(kept);
  ASSERT_EQ(::kill(static_cast<pid_t>(first), SIGKILL), 0);
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(first), nullptr, WEXITED | WNOWAIT), 0);
  const double next = serve(kept);
  EXPECT_GT(next, 0);
  EXPECT_NE(next, first);
}

TEST_F(KeptTrainingChildTest, a_process_that_cannot_be_renewed_ends) {
  for (const auto* release : {"{'ok': {'kept': False}}", "{'error': {'message': 'unknown request release'}}", "[]"}) {
    const KeptTrainingChild kept(options(release));
    const double first = serve(kept);
    EXPECT_GT(first, 0);
    EXPECT_FALSE(kept.waits()) << release;
    EXPECT_NE(serve(kept), first) << release;
  }
}

}  // namespace
}  // namespace ridgeline::execute
