// SPDX-License-Identifier: Apache-2.0
// How much slower than the best of the space is what `tune` recommends, on machines that are not even? Whole runs in
// simulated time: the search, the comparisons, the verdict. The truth is known: the surface without noise, or a
// recorded landscape. On the surface `flat` all configurations are alike, and every change is a false one.
//     recommendation_regret [--surfaces conv,transformer,tiny] [--seeds 200] [--strategies adaptive,quick,budgeted]
//     recommendation_regret --surfaces flat --seeds 200
//     recommendation_regret --landscapes tests/data/landscapes --seeds 5
//     recommendation_regret --only "2 cores" --strategies quick
// Shares of runs: `<= 3 %` slower than the best of the space, `tried`: than the best of the run's own trials,
// `average`: than the best of these by the mean time on that machine, disturbances included. Runs above 3 % are either
// `missed` (no trial was that close to the best of the space) or `decided` (one was, and another was recommended).
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "campaign/tune/tune_campaign.hpp"
#include "fakes/in_process_executor.hpp"
#include "fakes/landscape.hpp"
#include "search/space_builder.hpp"
#include "workload/synthetic/machine_load.hpp"
#include "workload/synthetic/response_surface.hpp"
#include "workload/synthetic/synthetic_kind.hpp"
#include "workload/synthetic/synthetic_workload.hpp"

namespace rl = ridgeline;

namespace {

constexpr double kLongestHeadStartS = 60;  // so that every seed meets the disturbances at another moment
constexpr int kCores = 8;
// What a quick search takes on an even machine, on average over the landscapes: 29.6 s and 4.9 s, limited to 10 s.
constexpr int kQuickOnCpuS = 30;
constexpr int kQuickOnGpuS = 10;
constexpr double kClose = 0.03;  // to the best: the goal of what is recommended

struct Disturbance {
  std::string name;
  std::string items;       ///< of synthetic_options.hpp
  double step_of_run = 0;  ///< > 0: the machine is slower by 2 for that share of the run, wherever chance puts it
  bool small = false;      ///< a virtual machine of two cores, with the settings of examples/config.yaml
  bool halves = false;     ///< whose cores are two halves of one
  [[nodiscard]] int cores() const { return small ? 2 : kCores; }
};

const std::vector<Disturbance> kDisturbances{
    {"quiet, noise 1 %", "noise=1%"},
    {"noise 5 %", "noise=5%"},
    {"noise 20 %", "noise=20%"},
    {"drift 20 %/20 s", "noise=5%,drift=20%,drift_period=20s"},
    {"drift 50 %/60 s", "noise=5%,drift=50%,drift_period=60s"},
    {"step 2x, a third", "noise=5%", 1.0 / 3},
    {"bursts 2x, 30 %", "noise=5%,bursts=2x,duty=30%,mean=5s"},
    {"bursts on > 1 thread", "noise=5%,bursts=2x if intra_op_num_threads!=1,duty=30%,mean=5s"},
    {"2 cores, quiet", "noise=2%,base=50ms,session_time=300ms", 0, true},
    {"2 cores, one absent", "noise=2%,base=50ms,session_time=300ms,absent_cores=1,duty=40%,mean=4s", 0, true},
    {"2 cores, unfelt by default",
     "noise=2%,base=50ms,session_time=300ms,slowdown=85% if intra_op_num_threads=0,"
     "absent_cores=1 if intra_op_num_threads!=0,duty=40%,mean=4s",
     0, true, true},
};

/// What is tuned, and what is true of it.
struct Case {
  std::string name;
  std::string surface;                              ///< of the synthetic workload, or ""
  const rl::fakes::Landscape* landscape = nullptr;  ///< or this
  [[nodiscard]] bool throughput() const { return name.find("throughput") != std::string::npos; }
};

struct Outcome {
  double regret = 0;             ///< against the best of the space
  double regret_of_tried = 0;    ///< against the best of the run's trials
  double regret_on_average = 0;  ///< against the best of the trials by the mean time, with the machine as it is
  bool tried_close = false;      ///< one of them is close to the best of the space
  double simulated_s = 0;
  double search_s = 0;
  std::size_t trials = 0;
  std::size_t pairs = 0;
  bool change = false;
  std::string error;
};

rl::schema::Environment environment_of(const Case& tuned, int cores) {
  if (tuned.landscape != nullptr)
    for (const auto& dimension : tuned.landscape->dimensions())
      if (dimension.key == "intra_op_num_threads")
        for (const auto& value : dimension.values) cores = std::max(cores, static_cast<int>(value.as_number(1)));
  rl::schema::Environment environment;
  environment.cpu_model = "simulated";
  environment.logical_cpus = environment.physical_cores = cores;
  environment.usable_cpus = cores;
  for (int cpu = 0; cpu < cores; ++cpu) environment.affinity.push_back(cpu);
  environment.memory_bytes = environment.memory_available_bytes = std::int64_t{64} << 30;
  if (tuned.landscape != nullptr && tuned.landscape->on_gpu()) {
    rl::schema::GpuDescription gpu;
    gpu.name = "simulated";
    gpu.uuid = "GPU-0";
    gpu.memory_bytes = std::int64_t{80} << 30;
    environment.gpus = {gpu};
  }
  return environment;
}

/// The synthetic kind with a landscape's times.
rl::workload::WorkloadKind replay(const Case& tuned, const std::shared_ptr<const rl::workload::VirtualClock>& clock) {
  auto kind = rl::workload::make_synthetic_kind(clock);
  const bool batches = std::any_of(tuned.landscape->dimensions().begin(), tuned.landscape->dimensions().end(),
                                   [](const auto& dimension) { return dimension.key == "batch_size"; });
  kind.inspect = [batches, inspect = kind.inspect](
                     const rl::workload::InspectRequest& request) -> rl::base::Result<rl::schema::ModelDescription> {
    RL_TRY_ASSIGN(auto model, inspect(request));
    if (batches) return model;
    model.batch_is_dynamic = false;  // as those that were recorded, which CUDA graphs need
    model.inputs.front().dims.front() = 1;
    model.inputs.front().dim_names.front() = "";
    return model;
  };
  kind.make = [&tuned, clock, made = std::make_shared<std::uint64_t>(0)](
                  const rl::schema::TrialSpec& spec) -> rl::base::Result<std::unique_ptr<rl::workload::Workload>> {
    RL_TRY_ASSIGN(auto options, rl::workload::parse_synthetic_options(spec.workload.location));
    const auto* row = tuned.landscape->recorded(spec.configuration);
    if (row == nullptr || !*row) {
      clock->sleep_for(std::chrono::milliseconds(100));
      return rl::base::fail(rl::base::ErrorCode::unsupported, "{}", row == nullptr ? "not recorded" : "failed");
    }
    options.base = rl::base::Nanoseconds(1'000'000);
    options.session_time = rl::base::from_seconds(tuned.landscape->setup_seconds(spec.configuration));
    double items = 1;
    if (tuned.throughput())  // whose costs are of an item, with all sessions at work
      for (const auto* key : {"batch_size", "parallel_sessions", "concurrent_runs"})
        items *= std::max(1.0, spec.configuration.get_or(key, 1).as_number(1));
    auto workload = std::make_unique<rl::workload::SyntheticWorkload>(std::move(options), spec, clock, ++*made,
                                                                      **row * items * 1e-6);
    return workload;
  };
  return kind;
}

double truth(const Case& tuned, const rl::workload::SyntheticOptions& options,
             const rl::schema::Configuration& configuration) {
  if (tuned.landscape == nullptr) return rl::workload::relative_duration(options, configuration);
  const auto* row = tuned.landscape->recorded(configuration);
  return row != nullptr && *row ? **row : HUGE_VAL;
}

/// The same with what the machine does to that configuration, over a long time.
double average(const Case& tuned, const rl::workload::SyntheticOptions& options,
               const rl::schema::Configuration& configuration) {
  constexpr int kMoments = 5000;
  constexpr std::chrono::milliseconds kStep{200};
  rl::workload::MachineLoad load(options, configuration, 1);
  double sum = 0;
  for (int moment = 0; moment < kMoments; ++moment) sum += load.factor(moment * kStep);
  return truth(tuned, options, configuration) * sum / kMoments;
}

/// Of a surface, over the whole space that the search has.
double best_of_surface(const rl::schema::TuneRun& run, const rl::workload::SyntheticOptions& options,
                       const rl::schema::Environment& environment) {
  rl::search::SpaceInput input{run.provider, run.objective, environment, run.model, run.runtime, {}};
  const auto built = rl::search::build_space(input);
  double best = HUGE_VAL;
  if (built)
    for (const auto& configuration : built->space.enumerate(10'000'000))
      best = std::min(best, rl::workload::relative_duration(options, configuration));
  return best;
}

/// What was tried and compared, with the truth beside it.
void explain(const rl::campaign::TuneResult& result, const Case& tuned, const rl::workload::SyntheticOptions& options) {
  const auto& run = result.run;
  for (const auto& trial : run.trials) {
    const auto& outcome = result.outcomes.at(trial.key);
    const double cost =
        outcome.measurement ? rl::analysis::cost_of(*outcome.measurement, run.objective).value : std::nan("");
    fmt::print("    {:>6.1f} s trial {}: {:.4f} ms, corrected {:.4f}, take {}, truth {:.4f}{}: {}\n", trial.started_s,
               trial.id, cost * 1e-6, trial.corrected ? trial.corrected->value * 1e-6 : std::nan(""), trial.takes,
               truth(tuned, options, trial.configuration),
               outcome.measurement && outcome.measurement->stop_reason == rl::schema::StopReason::stopped_early
                   ? ", given up"
                   : "",
               trial.configuration.to_text());
  }
  for (const auto& ranked : rl::analysis::rank(run, result.outcomes))
    fmt::print("    rank {}: trial {}, {:.4f} [{:.4f}, {:.4f}]\n", ranked.rank, ranked.trial->id,
               ranked.cost.value * 1e-6, ranked.cost.interval.low * 1e-6, ranked.cost.interval.high * 1e-6);
  for (const auto& note : run.notes) fmt::print("    note: {}\n", note);
  if (run.speed)
    for (const auto& track : run.speed->tracks)
      for (const auto& reading : track.readings)
        fmt::print("    {:>6.1f} s {:.4f}\n", reading.at_s, reading.cost * 1e-6);
  for (const auto& pair : run.pairs)
    if (pair.comparison)
      fmt::print("    {} {:.4f} [{:.4f}, {:.4f}]: {} against {}\n", rl::base::enum_name(pair.purpose),
                 pair.comparison->ratio, pair.comparison->low, pair.comparison->high, pair.b.to_text(),
                 pair.a.to_text());
  if (run.verdict) fmt::print("    {}: {}\n", run.verdict->configuration.to_text(), run.verdict->reason);
}

class Simulation {
 public:
  Simulation(std::filesystem::path folder, std::optional<std::chrono::nanoseconds> max_time, bool explains)
      : folder_(std::move(folder)), max_time_(max_time), explains_(explains) {}

  Outcome run(const Case& tuned, const Disturbance& disturbance, const std::string& strategy, std::uint64_t seed) {
    auto items = disturbance.items;
    if (disturbance.step_of_run > 0) {
      const auto quiet = run(tuned, {"", items, 0, disturbance.small}, strategy, seed);
      rl::base::Random chance(seed * 977 + 5);
      const double length = disturbance.step_of_run * quiet.simulated_s;
      const double from = head_start_s(seed) + chance.uniform() * (quiet.simulated_s - length);
      items += fmt::format(",step=2x@{:.0f}ms..{:.0f}ms", from * 1e3, (from + length) * 1e3);
    }
    return simulate(tuned, items, disturbance, strategy, seed);
  }

 private:
  static double head_start_s(std::uint64_t seed) {
    return kLongestHeadStartS * rl::base::Random(seed * 31 + 7).uniform();
  }

  Outcome simulate(const Case& tuned, const std::string& items, const Disturbance& machine, const std::string& strategy,
                   std::uint64_t seed) {
    Outcome outcome;
    const auto clock = std::make_shared<const rl::workload::VirtualClock>();
    clock->sleep_for(rl::base::from_seconds(head_start_s(seed)));
    const auto location = (tuned.surface.empty() ? std::string("surface=conv") : "surface=" + tuned.surface) + "," +
                          items + fmt::format(",cores={},seed={}", machine.cores(), seed);
    const auto options = rl::workload::parse_synthetic_options(location);
    if (!options) return {.error = options.error().message};
    rl::workload::WorkloadRegistry registry;
    registry.add(tuned.landscape != nullptr ? replay(tuned, clock) : rl::workload::make_synthetic_kind(clock));
    const auto executor = rl::fakes::InProcessExecutor::make(registry, *clock);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    std::filesystem::create_directories(folder_);
    auto store = rl::store::Store::open(folder_ / "results.db");
    if (!executor || !store) return {.error = "no executor or no store"};

    rl::campaign::TuneRequest request;
    request.workload.kind = "synthetic";
    request.workload.location = location;
    request.workload.seed = request.seed = seed;
    request.provider = "cpu";
    request.use_store = false;
    request.check_accuracy = false;
    request.max_time = max_time_;
    request.reference_folder = folder_;
    request.environment = environment_of(tuned, machine.cores());
    if (machine.halves) request.environment->physical_cores = 1;
    if (machine.small) {
      request.current = {{"intra_op_num_threads", 1}, {"graph_optimization_level", "basic"}};
      if (strategy == "quick") {  // as scripts/demo.sh
        request.leave_one_out = false;
        request.max_time = std::chrono::seconds(110);
      }
    }
    request.search = strategy == "budgeted" ? "adaptive" : strategy;
    if (tuned.throughput()) request.objective = rl::schema::Objective::throughput;
    if (strategy == "quick" || strategy == "budgeted") {  // as --quick
      request.plan.max_time_s = 1.5;
      request.plan.warmup_max_s = 2;
      request.paired.abba_rounds = 8;
      request.paired.max_abba_rounds = 16;
      request.paired.max_time_s = 15;
      request.finalists = 2;
    }
    if (tuned.landscape != nullptr) {
      ::setenv("RIDGELINE_SYNTHETIC_GPU", "1", 1);
      request.space.values = tuned.landscape->dimensions();
      request.space.only_listed = true;
      if (tuned.landscape->on_gpu()) request.provider = "cuda";
    }
    if (strategy == "budgeted") {  // an adaptive search in the time of a quick one
      const bool on_gpu = request.provider == "cuda";
      request.max_time = std::chrono::seconds(on_gpu ? kQuickOnGpuS : kQuickOnCpuS);
      request.finalists = 1;
      request.leave_one_out = false;
      request.fresh_finals = !on_gpu;
    }
    rl::campaign::CampaignObserver observer;
    const auto begun = clock->now();
    const auto result =
        rl::campaign::TuneCampaign(**executor, *store, *clock, observer, [] { return false; }).run(request);
    if (!result) return {.error = result.error().message};
    const auto& run = result->run;
    outcome.simulated_s = rl::base::to_seconds(clock->now() - begun);
    if (explains_) explain(*result, tuned, *options);
    outcome.trials = run.trials.size();
    outcome.pairs = run.pairs.size();
    for (const auto& trial : run.trials)
      if (trial.stage != rl::schema::TrialStage::finalist) outcome.search_s = trial.started_s;
    outcome.change = run.verdict && run.verdict->decision == rl::schema::Decision::change;
    const auto& recommended = outcome.change ? run.verdict->configuration : run.current;
    const double best = tuned.landscape != nullptr ? tuned.landscape->best_recorded()
                                                   : best_of(tuned, run, *options, *request.environment);
    double best_tried = HUGE_VAL;
    double best_on_average = HUGE_VAL;
    for (const auto& trial : run.trials) {
      best_tried = std::min(best_tried, truth(tuned, *options, trial.configuration));
      best_on_average = std::min(best_on_average, average(tuned, *options, trial.configuration));
    }
    outcome.regret_on_average = average(tuned, *options, recommended) / best_on_average - 1;
    outcome.regret = truth(tuned, *options, recommended) / best - 1;
    outcome.regret_of_tried = truth(tuned, *options, recommended) / best_tried - 1;
    outcome.tried_close = best_tried / best - 1 <= kClose;
    return outcome;
  }

  double best_of(const Case& tuned, const rl::schema::TuneRun& run, const rl::workload::SyntheticOptions& options,
                 const rl::schema::Environment& environment) {
    auto& best = best_[{tuned.surface, options.cores}];
    if (best == 0) best = best_of_surface(run, options, environment);
    return best;
  }

  std::filesystem::path folder_;
  std::optional<std::chrono::nanoseconds> max_time_;
  bool explains_;
  std::map<std::pair<std::string, int>, double> best_;
};

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(q * static_cast<double>(values.size())))];
}

/// In per cent.
double share(const std::vector<Outcome>& outcomes, bool (*is)(const Outcome&)) {
  return 100.0 * static_cast<double>(std::count_if(outcomes.begin(), outcomes.end(), is)) /
         static_cast<double>(outcomes.size());
}

double mean(const std::vector<Outcome>& outcomes, double (*of)(const Outcome&)) {
  double sum = 0;
  for (const auto& outcome : outcomes) sum += of(outcome);
  return sum / static_cast<double>(outcomes.size());
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  while (from <= text.size()) {
    const auto comma = std::min(text.find(',', from), text.size());
    parts.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Regret of what tune recommends, in simulated time"};
  std::string surfaces = "conv,transformer,tiny";
  std::string strategies = "adaptive";
  std::string landscapes;
  std::string only;
  std::uint64_t seeds = 200;
  double max_time_s = 0;
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  bool each = false;
  app.add_option("--surfaces", surfaces);
  app.add_option("--strategies", strategies);
  app.add_option("--landscapes", landscapes, "folder: replayed in place of surfaces");
  app.add_option("--only", only, "disturbances, by part of their names");
  app.add_option("--seeds", seeds);
  app.add_option("--max-time", max_time_s, "seconds; 0: none");
  app.add_option("--threads", threads);
  app.add_flag("--each", each, "a line a run");
  bool explains = false;
  app.add_flag("--explain", explains, "every trial and comparison; with --seeds 1");
  std::uint64_t first = 1;
  app.add_option("--first", first, "seed of the first run");
  CLI11_PARSE(app, argc, argv);

  std::vector<rl::fakes::Landscape> loaded;
  if (!landscapes.empty()) loaded = rl::fakes::Landscape::load_all(landscapes);
  std::vector<Case> cases;
  for (const auto& landscape : loaded) cases.push_back({landscape.name(), "", &landscape});
  if (landscapes.empty())
    for (const auto& surface : split(surfaces)) cases.push_back({surface, surface});

  fmt::print("{:<32} {:<9} {:<26} {:>5} {:>7} {:>7} {:>7} {:>6} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>6} ",
             "regret, %", "search", "machine", "runs", "mean", "p90", "max", "> 2 %", "<= 3 %", "tried", "average",
             "missed", "decided", "change", "time/s", "search", "trials");
  fmt::print("{:>6}\n", "pairs");
  bool failed = false;
  std::optional<std::chrono::nanoseconds> max_time;
  if (max_time_s > 0) max_time = rl::base::from_seconds(max_time_s);
  for (const auto& strategy : split(strategies))
    for (const auto& disturbance : kDisturbances) {
      if (!only.empty() && disturbance.name.find(only) == std::string::npos) continue;
      for (const auto& tuned : cases) {
        std::vector<Outcome> outcomes(seeds);
        std::atomic<std::uint64_t> next{0};
        std::vector<std::thread> workers;
        for (unsigned worker = 0; worker < threads; ++worker)
          workers.emplace_back([&, worker] {
            const auto folder = std::filesystem::path("/dev/shm") / fmt::format("rl-regret-{}-{}", ::getpid(), worker);
            Simulation simulation(folder, max_time, explains);
            for (auto at = next++; at < seeds; at = next++)
              outcomes[at] = simulation.run(tuned, disturbance, strategy, at + first);
            std::filesystem::remove_all(folder);
          });
        for (auto& worker : workers) worker.join();
        std::vector<double> regrets;
        for (std::size_t at = 0; at < outcomes.size(); ++at) {
          const auto& outcome = outcomes[at];
          if (!outcome.error.empty()) {
            fmt::print("{} seed {}: {}\n", tuned.name, at + first, outcome.error);
            failed = true;
          }
          if (each)
            fmt::print("  {} seed {}: regret {:.2f} % {} {:.0f} s, {} trials, {} pairs\n", tuned.name, at + first,
                       outcome.regret * 100, outcome.change ? "change" : "keep", outcome.simulated_s, outcome.trials,
                       outcome.pairs);
          regrets.push_back(outcome.regret * 100);
        }
        const auto over = std::count_if(regrets.begin(), regrets.end(), [](double regret) { return regret > 2; });
        fmt::print(
            "{:<32} {:<9} {:<26} {:>5} {:>7.2f} {:>7.2f} {:>7.2f} {:>6} {:>6.1f}% {:>6.1f}% {:>6.1f}% {:>6.1f}% "
            "{:>6.1f}% {:>6.1f}% {:>7.1f} {:>7.1f} {:>6.1f} {:>6.1f}\n",
            tuned.name, strategy, disturbance.name, regrets.size(),
            mean(outcomes, [](const Outcome& one) { return one.regret * 100; }), quantile(regrets, 0.9),
            *std::max_element(regrets.begin(), regrets.end()), over,
            share(outcomes, [](const Outcome& one) { return one.regret <= kClose; }),
            share(outcomes, [](const Outcome& one) { return one.regret_of_tried <= kClose; }),
            share(outcomes, [](const Outcome& one) { return one.regret_on_average <= kClose; }),
            share(outcomes, [](const Outcome& one) { return one.regret > kClose && !one.tried_close; }),
            share(outcomes, [](const Outcome& one) { return one.regret > kClose && one.tried_close; }),
            100 * mean(outcomes, [](const Outcome& one) { return one.change ? 1.0 : 0.0; }),
            mean(outcomes, [](const Outcome& one) { return one.simulated_s; }),
            mean(outcomes, [](const Outcome& one) { return one.search_s; }),
            mean(outcomes, [](const Outcome& one) { return static_cast<double>(one.trials); }),
            mean(outcomes, [](const Outcome& one) { return static_cast<double>(one.pairs); }));
        std::fflush(stdout);
      }
    }
  return failed ? 1 : 0;
}
