// SPDX-License-Identifier: Apache-2.0
// How near to the fastest settings `ridgeline bench` comes, and in what time, over simulated machines and models whose
// fastest settings are known: `adaptive` against every combination, and runs of --max-time. The campaign itself runs,
// on a virtual clock; experiments for the diagnosis are left out, they explain and do not search.
// Usage: bench_search_efficiency [machines, default 200] [adaptive|time|both] [list: misses of limited time too]
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "campaign/bench/bench_campaign.hpp"
#include "fakes/local_executor.hpp"
#include "fakes/training_landscape.hpp"

namespace {

namespace rl = ridgeline;
using rl::fakes::TrainingLandscape;
using rl::schema::TrainingTrialSpec;

constexpr double kNearGoal = 0.98;    ///< of the fastest combination
constexpr double kTimeGoal = 0.35;    ///< of the exhaustive search's time
constexpr double kShareGoal = 0.95;   ///< of the machines: what is claimed holds for them
constexpr double kStartMs = 4000;     ///< of a process with LibTorch or PyTorch and CUDA
constexpr double kRenewedMs = 300;    ///< of a model in a process that is there
constexpr double kTrialShare = 0.05;  ///< of --max-time: the most for warm-up and timing of a trial, each
struct TimeGoal {
  int seconds;
  double near;
};
constexpr TimeGoal kTimeGoals[] = {{60, 0.90}, {120, 0.95}, {300, 0.97}};

/// The native way: the first trial starts the process, those behind it find it there, as execute::KeptTrainingChild has
/// it.
rl::workload::StepRunnerFactory in_one_process(std::shared_ptr<const rl::workload::VirtualClock> clock) {
  struct Process {
    bool runs = false;
    int repeat = 0;
  };
  const auto process = std::make_shared<Process>();
  return
      [clock, process](const TrainingTrialSpec& spec) -> rl::base::Result<std::unique_ptr<rl::workload::StepRunner>> {
        RL_TRY_ASSIGN(auto options, rl::workload::parse_step_options(spec.job.target));
        const bool fits = rl::workload::synthetic_memory_gb(options, spec.settings, spec.data) <= options.memory_gb;
        if (process->runs && process->repeat == spec.repeat) options.startup_ms = kRenewedMs;
        process->runs = fits;
        process->repeat = spec.repeat;
        return std::make_unique<rl::workload::SyntheticStepRunner>(std::move(options), clock);
      };
}

struct Outcome {
  double reached = 0;  ///< of the fastest combination's true rate
  double seconds = 0;  ///< simulated
  std::size_t trials = 0;
  rl::schema::TrainingSettings settings;
};

class Runs {
 public:
  Runs() : store_(rl::store::Store::open(folder_ / "runs.db").value()) {}
  ~Runs() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  Outcome run(const TrainingLandscape& machine, const char* search, int limit_s = 0, bool one_process = false) {
    const auto clock = std::make_shared<const rl::workload::VirtualClock>();
    rl::execute::TrainingOptions options;
    options.factory = one_process ? in_one_process(clock) : rl::workload::make_synthetic_steps(clock);
    options.clock = clock;
    const auto executor = rl::fakes::make_training_executor(std::move(options));
    rl::campaign::BenchRequest request;
    request.job.kind = "synthetic";
    request.job.target = machine.target;
    request.device = "cuda:0";
    request.device_id = "synthetic";
    request.search = search;
    request.cores = machine.options.cores;
    request.space = rl::fakes::default_training_space();
    request.use_store = false;
    request.diagnose = false;
    if (limit_s > 0) {
      request.max_time = std::chrono::seconds(limit_s);
      // As the command line sets it.
      request.plan.max_time_s = request.plan.max_warmup_s = std::clamp(kTrialShare * limit_s, 1.0, 30.0);
    }
    rl::campaign::BenchObserver observer;
    const auto done = rl::campaign::BenchCampaign(*executor, store_, observer, nullptr).run(request);
    Outcome out;
    out.seconds = rl::base::to_seconds(clock->now());
    if (!done || !done->answers || !done->answers->fastest) return out;
    out.trials = done->trials.size();
    out.settings = done->answers->fastest->settings;
    out.reached =
        rl::fakes::true_rate(machine.options, out.settings) / rl::fakes::best_true_rate(machine.options, request.space);
    return out;
  }

 private:
  std::filesystem::path folder_ = [] {
    auto path = std::filesystem::temp_directory_path() / fmt::format("ridgeline-efficiency-{}", ::getpid());
    std::filesystem::create_directories(path);
    return path;
  }();
  rl::store::Store store_;
};

struct Tally {
  int count = 0;
  int near = 0;
  double worst = 1;
  double share_sum = 0;
  double share_worst = 0;
  double trials = 0;

  void add(const Outcome& outcome, double goal, double share) {
    ++count;
    near += outcome.reached >= goal ? 1 : 0;
    worst = std::min(worst, outcome.reached);
    share_sum += share;
    share_worst = std::max(share_worst, share);
    trials += static_cast<double>(outcome.trials);
  }
  [[nodiscard]] double near_share() const { return static_cast<double>(near) / count; }
};

const char* verdict(bool met) { return met ? "met" : "MISSED"; }

bool adaptive_against_grid(Runs& runs, int machines) {
  std::map<std::string, Tally> tallies;
  Tally all;
  double adaptive_s = 0;
  double grid_s = 0;
  for (int seed = 1; seed <= machines; ++seed) {
    const auto machine = rl::fakes::training_landscape(static_cast<std::uint64_t>(seed));
    const auto adaptive = runs.run(machine, "adaptive");
    const auto grid = runs.run(machine, "grid");
    const double share = adaptive.seconds / grid.seconds;
    adaptive_s += adaptive.seconds;
    grid_s += grid.seconds;
    for (auto* tally : {&all, &tallies[machine.kind], &tallies[fmt::format("noise {:.0f} %", machine.noise * 100)]})
      tally->add(adaptive, kNearGoal, share);
    if (adaptive.reached < kNearGoal || share > kTimeGoal)
      fmt::print("  machine {} ({}): {:.1f} % of the fastest by {}, {:.0f} % of the time; {}\n", seed, machine.kind,
                 adaptive.reached * 100, rl::schema::describe(adaptive.settings), share * 100, machine.target);
  }
  fmt::print("\n{:<16} {:>8} {:>13} {:>8} {:>7} {:>12} {:>12}\n", "adaptive", "machines", "within 2 %", "worst",
             "trials", "mean time", "most time");
  const auto line = [](const std::string& name, const Tally& tally) {
    fmt::print("{:<16} {:>8} {:>11.1f} % {:>6.1f} % {:>7.0f} {:>10.1f} % {:>10.1f} %\n", name, tally.count,
               tally.near_share() * 100, tally.worst * 100, tally.trials / tally.count,
               tally.share_sum / tally.count * 100, tally.share_worst * 100);
  };
  for (const auto& [name, tally] : tallies) line(name, tally);
  line("all", all);
  fmt::print("all machines together: {:.0f} s of {:.0f} s simulated, {:.1f} %\n", adaptive_s, grid_s,
             adaptive_s / grid_s * 100);
  const bool near = all.near_share() >= kShareGoal;
  const bool quick = all.share_sum / all.count <= kTimeGoal;
  fmt::print("goal: within 2 % of the fastest for {:.0f} % of the machines: {}; in 35 % of the time: {}\n",
             kShareGoal * 100, verdict(near), verdict(quick));
  return near && quick;
}

bool limited_time(Runs& runs, int machines, bool list_misses) {
  bool met = true;
  fmt::print("\n{:<24} {:>8} {:>10} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7}\n", "--max-time", "machines", "of fastest",
             "by", "median", "5th", "worst", "trials", "time");
  for (const bool one_process : {true, false})
    for (const auto& [seconds, near] : kTimeGoals) {
      Tally tally;
      std::vector<double> reached;
      for (int seed = 1; seed <= machines; ++seed) {
        const auto machine = rl::fakes::training_landscape(static_cast<std::uint64_t>(seed), kStartMs);
        const auto outcome = runs.run(machine, "adaptive", seconds, one_process);
        tally.add(outcome, near, outcome.seconds / seconds);
        reached.push_back(outcome.reached);
        if (list_misses && outcome.reached < near)
          fmt::print("  {} s, machine {} ({}): {:.1f} % by {} in {} trials; {}\n", seconds, seed, machine.kind,
                     outcome.reached * 100, rl::schema::describe(outcome.settings), outcome.trials, machine.target);
      }
      std::sort(reached.begin(), reached.end());
      const bool enough = tally.near_share() >= kShareGoal;
      fmt::print("{:<24} {:>8} {:>8.0f} % {:>6.1f} % {:>6.1f} % {:>6.1f} % {:>6.1f} % {:>7.0f} {:>5.0f} %  {}\n",
                 fmt::format("{} s, {}", seconds, one_process ? "one process" : "one a trial"), tally.count, near * 100,
                 tally.near_share() * 100, reached[reached.size() / 2] * 100, reached[reached.size() / 20] * 100,
                 tally.worst * 100, tally.trials / tally.count, tally.share_sum / tally.count * 100, verdict(enough));
      met = met && enough;
    }
  fmt::print("goal: at least so near to the fastest by {:.0f} % of the machines\n", kShareGoal * 100);
  return met;
}

}  // namespace

int main(int argc, char** argv) {
  const int machines = argc > 1 ? std::max(1, std::atoi(argv[1])) : 200;
  const std::string_view part = argc > 2 ? argv[2] : "both";
  const bool list_misses = argc > 3 && std::string_view(argv[3]) == "list";
  Runs runs;
  bool met = true;
  if (part != "time") met = adaptive_against_grid(runs, machines);
  if (part != "adaptive") met = limited_time(runs, machines, list_misses) && met;
  return met ? 0 : 1;
}
