// SPDX-License-Identifier: Apache-2.0
// Comparisons whose arms live in processes of their own.
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include "execute/message.hpp"
#include "execute/worker_connection.hpp"
#include "fakes/words.hpp"
#include "host/process_cpu.hpp"
#include "host/processes.hpp"
#include "schema/measurement.hpp"
#include "stats/quantile.hpp"
#include "worker_fixture.hpp"
#include "workload/synthetic/virtual_clock.hpp"

namespace ridgeline::execute {
namespace {

using schema::TrialPhase;
using schema::TrialStatus;

using AcrossTest = WorkerTest;

schema::PairedSpec across_spec(const std::string& a, const std::string& b) {
  schema::PairedSpec spec;
  spec.base = synthetic_spec(a);
  spec.across = synthetic_spec(b);
  spec.plan.rounds = spec.plan.max_rounds = 2;
  spec.plan.abba_rounds = spec.plan.max_abba_rounds = 8;
  spec.plan.min_time_s = 0;
  spec.plan.max_time_s = 2;
  spec.plan.warmup.warmup_max_s = 0.1;
  return spec;
}

double ratio_of(const schema::PairedMeasurement& measured) {
  std::vector<double> a;
  std::vector<double> b;
  for (const auto& block : measured.blocks)
    for (const double latency : block.latency_ns) (block.arm == 'A' ? a : b).push_back(latency);
  return stats::median(b) / stats::median(a);
}

/// Calls `look` with the children of this process, again and again while it lives.
class Onlooker {
 public:
  explicit Onlooker(std::function<void(pid_t)> look)
      : thread_([look = std::move(look)](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            for (const pid_t child : children_of(::getpid())) look(child);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}

 private:
  std::jthread thread_;
};

/// A process in a session of its own that computes until it is killed.
class BusyProcess {
 public:
  BusyProcess() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::setsid();
    for (volatile unsigned turns = 0;;) turns = turns + 1;
  }
  ~BusyProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_;
};

TEST_F(AcrossTest, what_comes_with_a_worker_stands_still_with_it) {
  const BusyProcess busy;
  ASSERT_TRUE(eventually([&] { return ::getpgid(busy.pid()) == busy.pid(); }));
  const auto options = worker_options();
  auto worker = WorkerConnection::launch(options);
  ASSERT_TRUE(worker) << worker.error().message;
  (*worker)->comes_with(busy.pid());
  (*worker)->pause();
  // A signal takes effect when its process next enters the kernel.
  auto used = host::process_cpu_s(busy.pid());
  ASSERT_TRUE(eventually([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto before = std::exchange(used, host::process_cpu_s(busy.pid()));
    return before == used;
  }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(host::process_cpu_s(busy.pid()), used);
  EXPECT_LT((*worker)->pauses().cpu_s, 0.01);
  const WireFrame inspect = make_job_frame(job_kind::kArm, ArmRequest{});
  ASSERT_TRUE((*worker)->exchange(inspect, 10, TimeLeft{}));
  EXPECT_TRUE(eventually([&] { return host::process_cpu_s(busy.pid()) > used; })) << "goes on with the next request";
}

TEST_F(AcrossTest, two_processes_give_the_ratio_of_one) {
  const auto clock = workload::VirtualClock::share();
  ASSERT_TRUE(clock) << clock.error().message;
  auto options = worker_options();
  options.clock = clock->get();
  options.environment = {{workload::VirtualClock::kVariable, (*clock)->path()}};
  const auto executor = make_local_executor(options);
  auto across = across_spec("surface=flat,noise=1%,drift=10%,slowdown=5% if intra_op_num_threads=4", "");
  across.across->workload = across.base.workload;
  across.other.set("intra_op_num_threads", 4);
  auto within = across;
  within.across.reset();
  const auto one = execute::run_pair(*executor, within);
  const auto two = execute::run_pair(*executor, across);
  ASSERT_TRUE(one && two) << two.error().message;
  ASSERT_TRUE(one->measurement && two->measurement) << fakes::text_of(two->failure->message);
  EXPECT_NEAR(ratio_of(*one->measurement), 1.05, 0.005);
  EXPECT_NEAR(ratio_of(*two->measurement), 1.05, 0.005);
  EXPECT_EQ(two->measurement->rounds, 2);
  EXPECT_EQ(two->measurement->blocks.size(), one->measurement->blocks.size());
  EXPECT_TRUE(two->measurement->flags.empty());
  EXPECT_GT(two->duration_s, two->measurement->blocks_s);
}

TEST_F(AcrossTest, every_session_has_a_process_and_the_waiting_one_computes_nothing) {
  std::set<pid_t> processes;
  schema::PairedMeasurement measured;
  {
    const Onlooker onlooker([&](pid_t child) { processes.insert(child); });
    const auto executor = make_local_executor(worker_options());
    const std::string location = "clock=real,base=2ms,noise=0,fault=spin@warmup";
    const auto outcome = execute::run_pair(*executor, across_spec(location, location));
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_TRUE(outcome->measurement) << fakes::text_of(outcome->failure->message);
    measured = *outcome->measurement;
  }
  EXPECT_EQ(processes.size(), 4U) << "two rounds of two";
  EXPECT_GE(measured.blocks.size(), 32U);
  for (const auto& flag : measured.flags) EXPECT_NE(flag.code, "waiting_arm_computed") << fakes::text_of(flag.message);
}

TEST_F(AcrossTest, a_waiting_arm_that_computes_is_reported) {
  const Onlooker awaker([](pid_t child) { ::kill(child, SIGCONT); });
  const auto executor = make_local_executor(worker_options());
  const auto outcome =
      execute::run_pair(*executor, across_spec("clock=real,base=2ms", "clock=real,base=2ms,fault=spin@warmup"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->measurement) << fakes::text_of(outcome->failure->message);
  const auto& flags = outcome->measurement->flags;
  EXPECT_TRUE(std::any_of(flags.begin(), flags.end(), [](const auto& flag) {
    return flag.code == "waiting_arm_computed" && fakes::text_of(flag.message).rfind("arm B: ", 0) == 0;
  }));
}

struct ArmDeath {
  const char* fault;
  TrialStatus status;
  std::optional<int> signal;
};

TEST_F(AcrossTest, what_ends_an_arm_is_classified_and_names_the_arm) {
  auto options = worker_options();
  options.stall_timeout_s = 0.5;
  const auto executor = make_local_executor(options);
  for (const auto& death : {ArmDeath{"segv", TrialStatus::crashed, SIGSEGV},
                            {"hang", TrialStatus::timeout, {}},
                            {"oom", TrialStatus::out_of_memory, {}},
                            {"invalid", TrialStatus::invalid, {}}})
    for (const auto phase : {TrialPhase::create_session, TrialPhase::warmup, TrialPhase::measure})
      for (const char arm : {'A', 'B'}) {
        SCOPED_TRACE(fmt::format("{} in {} of {}", death.fault, base::enum_name(phase), arm));
        const auto faulty = fmt::format("fault={}@{}", death.fault, base::enum_name(phase));
        const auto outcome =
            execute::run_pair(*executor, across_spec(arm == 'A' ? faulty : "", arm == 'B' ? faulty : ""));
        ASSERT_TRUE(outcome) << outcome.error().message;
        EXPECT_EQ(outcome->status, death.status);
        ASSERT_TRUE(outcome->failure);
        EXPECT_EQ(outcome->failure->signal, death.signal);
        EXPECT_EQ(outcome->failure->phase, phase);
        EXPECT_EQ(fakes::text_of(outcome->failure->message).rfind(fmt::format("arm {}: ", arm), 0), 0U)
            << fakes::text_of(outcome->failure->message);
        EXPECT_TRUE(children_of(::getpid()).empty());
      }
}

TEST_F(AcrossTest, an_arm_that_is_killed_while_it_waits_is_noticed_in_its_turn) {
  std::atomic<bool> killed{false};
  const Onlooker killer([&](pid_t child) {
    const auto stat = host::Processes().stat(child);
    if (stat && stat->state == 'T' && !killed.exchange(true)) ::kill(child, SIGKILL);
  });
  const auto executor = make_local_executor(worker_options());
  const auto outcome = execute::run_pair(*executor, across_spec("clock=real", "clock=real"));
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->status, TrialStatus::crashed);
  ASSERT_TRUE(outcome->failure);
  EXPECT_EQ(outcome->failure->signal, SIGKILL);
  EXPECT_EQ(fakes::text_of(outcome->failure->message).rfind("arm ", 0), 0U)
      << fakes::text_of(outcome->failure->message);
}

TEST_F(AcrossTest, cancelling_and_the_end_of_the_runs_time_end_both_processes) {
  auto options = worker_options();
  std::atomic<bool> cancelled{false};
  options.cancelled = [&] { return cancelled.load(); };
  options.on_progress = [&](const JobProgress& progress) { cancelled = progress.phase == TrialPhase::measure; };
  const auto executor = make_local_executor(options);
  const auto ended = execute::run_pair(*executor, across_spec("", "fault=hang@measure"));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, base::ErrorCode::cancelled);
  EXPECT_TRUE(children_of(::getpid()).empty());

  const auto late =
      execute::run_pair(*make_local_executor(worker_options()), across_spec("fault=hang@measure", ""), {0.2, 3600});
  ASSERT_FALSE(late) << "an outcome would be stored";
  EXPECT_EQ(late.error().code, base::ErrorCode::out_of_time);
  EXPECT_TRUE(children_of(::getpid()).empty());
}

TEST_F(AcrossTest, progress_counts_on_over_both_processes) {
  auto options = worker_options();
  JobProgress last;
  bool forwards = true;
  options.on_progress = [&](const JobProgress& progress) {
    forwards = forwards && progress.elapsed_s >= last.elapsed_s;
    last = progress;
  };
  const auto executor = make_local_executor(options);
  const auto outcome = execute::run_pair(*executor, across_spec("clock=real,base=2ms", "clock=real,base=2ms"));
  ASSERT_TRUE(outcome && outcome->measurement);
  EXPECT_TRUE(forwards);
  EXPECT_GT(last.steps, 32) << "of more than one block";
}

}  // namespace
}  // namespace ridgeline::execute
