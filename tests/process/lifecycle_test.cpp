// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>

#include "base/subprocess.hpp"
#include "execute/slot_executor.hpp"
#include "worker_fixture.hpp"

namespace ridgeline::execute {
namespace {

using schema::TrialStatus;

using LifecycleTest = WorkerTest;

pid_t only_child() {
  const auto children = children_of(::getpid());
  EXPECT_EQ(children.size(), 1U);
  return children.empty() ? 0 : children.front();
}

TEST_F(LifecycleTest, a_pooled_worker_runs_many_trials) {
  const auto executor = make_local_executor(worker_options());
  ASSERT_TRUE(execute::run_trial(*executor, synthetic_spec(""), {}));
  const auto worker = only_child();
  ASSERT_TRUE(execute::run_trial(*executor, synthetic_spec("noise=2%"), {}));
  EXPECT_EQ(only_child(), worker);
}

TEST_F(LifecycleTest, a_worker_that_has_loaded_a_runtime_is_given_no_other) {
  const auto executor = make_local_executor(worker_options());
  auto spec = synthetic_spec("");
  std::vector<pid_t> workers;
  const auto run_on = [&](const char* library, const char* plugin = "") {
    spec.runtime.library_path = library;
    spec.plugin.reset();
    if (*plugin != '\0') spec.plugin.emplace().library_path = plugin;
    const auto before = children_of(::getpid());
    EXPECT_TRUE(execute::run_trial(*executor, spec, {}));
    const auto after = children_of(::getpid());
    std::vector<pid_t> made;
    std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(made));
    return made.empty() ? 0 : made.front();
  };
  const auto first = run_on("/a");
  EXPECT_NE(first, 0);
  EXPECT_NE(run_on("/b"), 0);
  EXPECT_NE(run_on("/a", "/plugin"), 0);
  EXPECT_EQ(run_on("/b"), 0) << "which has a worker";
  EXPECT_EQ(children_of(::getpid()).size(), 3U);
  EXPECT_NE(run_on("/c"), 0);
  EXPECT_EQ(children_of(::getpid()).size(), 3U);
  EXPECT_EQ(parent_of(first), 0) << "the least recently used one has ended";
  EXPECT_EQ(run_on("/b"), 0);
  EXPECT_EQ(run_on("/a", "/plugin"), 0);
}

TEST_F(LifecycleTest, what_loads_no_runtime_leaves_a_worker_for_any_and_a_probe_leaves_none) {
  const auto executor = make_local_executor(worker_options());
  ASSERT_TRUE(execute::probe(*executor, "synthetic", ""));
  EXPECT_TRUE(children_of(::getpid()).empty());
  auto spec = synthetic_spec("");
  ASSERT_TRUE(execute::inspect(*executor, {spec.workload, ""}));
  const auto worker = only_child();
  spec.runtime.library_path = "/a";
  ASSERT_TRUE(execute::run_trial(*executor, spec, {}));
  EXPECT_EQ(only_child(), worker);
  spec.runtime.library_path = "/b";
  ASSERT_TRUE(execute::run_trial(*executor, spec, {}));
  EXPECT_EQ(children_of(::getpid()).size(), 2U);
}

TEST_F(LifecycleTest, a_trial_alone_begins_a_process) {
  const auto executor = make_local_executor(worker_options());
  ASSERT_TRUE(execute::run_trial(*executor, synthetic_spec(""), {}));
  const auto worker = only_child();
  auto spec = synthetic_spec("");
  spec.isolated = true;
  const auto outcome = execute::run_trial(*executor, spec, {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, TrialStatus::ok);
  const auto fresh = only_child();
  EXPECT_NE(fresh, worker);
  ASSERT_TRUE(execute::run_trial(*executor, synthetic_spec(""), {}));
  EXPECT_EQ(only_child(), fresh) << "it serves others afterwards";
}

TEST_F(LifecycleTest, a_legal_refusal_keeps_the_worker_and_a_failure_replaces_it) {
  const auto executor = make_local_executor(worker_options());
  ASSERT_TRUE(execute::run_trial(*executor, synthetic_spec(""), {}));
  const auto worker = only_child();
  ASSERT_TRUE(execute::run_trial(*executor, synthetic_spec("fault=invalid"), {}));
  EXPECT_EQ(only_child(), worker);
  ASSERT_TRUE(execute::run_trial(*executor, synthetic_spec("fault=oom"), {}));
  EXPECT_TRUE(children_of(::getpid()).empty());
  ASSERT_TRUE(execute::run_trial(*executor, synthetic_spec(""), {}));
  EXPECT_NE(only_child(), worker);
}

TEST_F(LifecycleTest, isolation_by_trial_leaves_no_worker_behind) {
  auto options = worker_options();
  options.isolation = Isolation::trial;
  const auto executor = make_local_executor(options);
  const auto outcome = execute::run_trial(*executor, synthetic_spec(""), {});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->status, TrialStatus::ok);
  EXPECT_TRUE(children_of(::getpid()).empty());
}

TEST_F(LifecycleTest, an_idle_worker_killed_from_outside_is_replaced_without_a_word) {
  const auto executor = make_local_executor(worker_options());
  ASSERT_TRUE(execute::run_trial(*executor, synthetic_spec(""), {}));
  ::kill(only_child(), SIGKILL);
  const auto outcome = execute::run_trial(*executor, synthetic_spec(""), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, TrialStatus::ok);
}

TEST_F(LifecycleTest, a_busy_worker_killed_from_outside_is_a_crashed_trial) {
  auto options = worker_options();
  std::atomic<bool> killed{false};
  options.on_progress = [&](const JobProgress& progress) {
    if (progress.phase != schema::TrialPhase::measure || killed.exchange(true)) return;
    ::kill(only_child(), SIGKILL);
  };
  const auto executor = make_local_executor(options);
  const auto outcome = execute::run_trial(*executor, synthetic_spec("fault=hang@measure"), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, TrialStatus::crashed);
  EXPECT_EQ(outcome->failure->signal, SIGKILL);
  EXPECT_EQ(outcome->failure->phase, schema::TrialPhase::measure);
}

TEST_F(LifecycleTest, what_hangs_ends_with_the_time_of_the_run_and_is_no_outcome) {
  const auto executor = make_local_executor(worker_options());
  TrialOptions options;
  options.time_left = {0.2, 3600};
  const auto outcome = execute::run_trial(*executor, synthetic_spec("fault=hang@measure"), options);
  ASSERT_FALSE(outcome) << "an outcome would be stored";
  EXPECT_EQ(outcome.error().code, base::ErrorCode::out_of_time);
  EXPECT_NE(outcome.error().message.find("in phase measure, in which nothing had moved for"), std::string::npos)
      << outcome.error().message;
  EXPECT_TRUE(children_of(::getpid()).empty());
  const auto reference =
      execute::make_reference(*executor, synthetic_spec("fault=hang@create_session"), folder_ / "r", {0, 3600});
  ASSERT_FALSE(reference);
  EXPECT_EQ(reference.error().code, base::ErrorCode::out_of_time);
  schema::PairedSpec pair;
  pair.base = synthetic_spec("fault=hang@measure");
  const auto compared = execute::run_pair(*executor, pair, {0, 3600});
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().code, base::ErrorCode::out_of_time);
}

TEST_F(LifecycleTest, what_works_may_end_after_the_time_of_the_run_but_not_go_on_for_ever) {
  const auto executor = make_local_executor(worker_options());
  auto spec = synthetic_spec("clock=real,base=1ms");
  spec.plan.runs = 200;
  TrialOptions options;
  options.time_left = {0, 3600};
  const auto ordinary = execute::run_trial(*executor, spec, options);
  ASSERT_TRUE(ordinary) << ordinary.error().message;
  EXPECT_EQ(ordinary->status, TrialStatus::ok);
  spec.plan.runs = 100'000'000;
  spec.plan.max_runs = *spec.plan.runs;
  options.time_left = {0, 0.3};
  const auto endless = execute::run_trial(*executor, spec, options);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, base::ErrorCode::out_of_time);
}

TEST_F(LifecycleTest, grandchildren_in_the_group_end_with_the_worker) {
  pid_t group = 0;
  {
    const auto executor = make_local_executor(worker_options());
    ASSERT_TRUE(execute::run_trial(*executor, synthetic_spec("fault=grandchild@warmup"), {}));
    group = only_child();
    ASSERT_EQ(children_of(group).size(), 1U);
  }
  EXPECT_TRUE(eventually([&] { return group_is_empty(group); }));
}

TEST_F(LifecycleTest, a_worker_that_dies_with_a_grandchild_holding_its_pipes_is_noticed_at_once) {
  const auto executor = make_local_executor(worker_options());
  const auto begun = std::chrono::steady_clock::now();
  const auto outcome = execute::run_trial(*executor, synthetic_spec("fault=grandchild@warmup,fault=segv@measure"), {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->failure->signal, SIGSEGV);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}

TEST_F(LifecycleTest, a_hundred_deaths_leave_no_zombie_and_no_descriptor) {
  const auto open_descriptors = [] {
    const auto folder = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(folder), end(folder));
  };
  const auto executor = make_local_executor(worker_options());
  const auto before = open_descriptors();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(execute::run_trial(*executor, synthetic_spec("fault=exit@warmup"), {}));
  EXPECT_TRUE(children_of(::getpid()).empty());
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(LifecycleTest, workers_end_when_their_parent_is_killed) {
  pid_t worker = 0;
  {
    auto parent = base::Subprocess::spawn({.argv = {RL_TEST_WORKER, "parent"}});
    ASSERT_TRUE(parent) << parent.error().message;
    ASSERT_TRUE(eventually([&] { return !children_of(parent->pid()).empty(); }));
    worker = children_of(parent->pid()).front();
    ASSERT_TRUE(eventually([&] { return ::getpgid(worker) == worker; }));
    ::kill(parent->pid(), SIGKILL);
    EXPECT_EQ(parent->wait().signal, SIGKILL);
  }
  EXPECT_TRUE(eventually([&] { return ::kill(worker, 0) != 0 || parent_of(worker) == 0; }));
}

TEST_F(LifecycleTest, cancelling_ends_the_running_trial_within_a_moment) {
  auto options = worker_options();
  std::atomic<bool> cancel{false};
  options.cancelled = [&] { return cancel.load(); };
  const auto executor = make_local_executor(options);
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    cancel = true;
  });
  const auto begun = std::chrono::steady_clock::now();
  const auto outcome = execute::run_trial(*executor, synthetic_spec("fault=hang@measure"), {});
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, base::ErrorCode::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(3));
  EXPECT_TRUE(children_of(::getpid()).empty());
}

TEST_F(LifecycleTest, each_slot_has_a_worker_with_an_environment_of_its_own) {
  const auto slot = [](const std::string& name) -> SlotExecutor::Slot {
    auto options = worker_options();
    options.command = {"/bin/sh", "-c", "test \"$RL_TEST_SLOT\" = " + name + " && exec " + options.command.front()};
    options.environment = {{"RL_TEST_SLOT", name}};
    return {{name, options.environment}, [options](std::function<bool()> cancelled) mutable {
              options.cancelled = std::move(cancelled);
              auto transport = std::make_unique<LocalTransport>();
              add_worker_jobs(*transport, std::move(options));
              return transport;
            }};
  };
  {
    SlotExecutor executor({slot("0"), slot("1"), slot("2")});
    for (int round = 0; round < 2; ++round) {
      const auto outcomes = run_trials(
          executor, {{0, synthetic_spec(""), {}}, {1, synthetic_spec("fault=oom"), {}}, {2, synthetic_spec(""), {}}});
      ASSERT_EQ(outcomes.size(), 3U);
      for (const auto& outcome : outcomes) ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_EQ(outcomes[0]->status, TrialStatus::ok);
      EXPECT_EQ(outcomes[1]->status, TrialStatus::out_of_memory);
      EXPECT_EQ(outcomes[2]->status, TrialStatus::ok);
      EXPECT_EQ(children_of(::getpid()).size(), 2U);  // the one that ran out of memory is gone
    }
  }
  EXPECT_TRUE(children_of(::getpid()).empty());
}

TEST_F(LifecycleTest, progress_is_reported_while_a_trial_runs) {
  auto options = worker_options();
  std::int64_t most_steps = 0;
  int reports = 0;
  options.on_progress = [&](const JobProgress& progress) {
    most_steps = std::max(most_steps, progress.steps);
    ++reports;
  };
  const auto executor = make_local_executor(options);
  auto spec = synthetic_spec("clock=real,base=2ms,noise=0");
  spec.plan.runs = 300;
  const auto outcome = execute::run_trial(*executor, spec, {});
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, TrialStatus::ok);
  EXPECT_GT(most_steps, 10);
  EXPECT_GT(reports, 2);
  EXPECT_LT(reports, 20 * outcome->duration_s + 2);
}

}  // namespace
}  // namespace ridgeline::execute
