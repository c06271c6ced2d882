// SPDX-License-Identifier: Apache-2.0
// How often interleaved comparisons are wrong, through the real measuring code: a configuration against itself must
// come out as different in at most 5 % of cases, an injected 3 % slow-down must be found in at least 90 %.
//   cmake --preset bench && cmake --build build/bench --target paired_verdicts
//   build/bench/bin/paired_verdicts                 200 + 100 comparisons of a simulated workload (virtual clock)
//   build/bench/bin/paired_verdicts MODEL.onnx 20   20 + 20 comparisons of a real model, the slow-down added after each
//                                                   inference by keeping the core busy for 3 % of its time; a line
//                                                   each, so that a run cut short is not lost
//   build/bench/bin/paired_verdicts MODEL.onnx 20 RAW.csv     also writes every inference's time, for other plans
//   ... --provider cuda --ort FOLDER     anywhere: on the GPU, with that ONNX Runtime and tune's plan there
//   ... --set KEY=VALUE                  anywhere, repeatable: a setting of both arms
//   ... --plan JSON                      with a model: parts of another plan, '{"block_time_s": 0.1, "rounds": 2}'
//   ... --slower N                       with a model: so many with the slow-down, 0 for none (default: as many)
//   ... --other KEY=VALUE                with a model, repeatable: instead of all that, the configuration of --set with
//                                        the one that has these settings too
//   ... --across                         with a model: each session in a worker process of its own, as runtimes are
//                                        compared; without the slow-down
//   ... --throughput                     with a model: by wall time an item instead of median latencies
// Exit code 3 when a goal was missed.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "analysis/comparison.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "execute/calls.hpp"
#include "execute/gpu_observer.hpp"
#include "fakes/local_executor.hpp"
#include "gpu/gpu_inventory.hpp"
#include "measure/gpu_plans.hpp"
#include "measure/paired_rounds.hpp"
#include "schema/catalog.hpp"
#include "workload/workload_registry.hpp"

namespace {

using namespace ridgeline;  // a program, not a library

constexpr double kMinEffect = 0.02;
constexpr double kInjected = 0.03;
constexpr int kGoalMissed = 3;             // the exit code; 1 is for what could not be measured
constexpr const char* kWorker = "worker";  // the first argument of a process that --across starts
constexpr const char* kSame = "a configuration with itself";
constexpr const char* kSlower = "3 % slower";
constexpr const char* kOther = "the other configuration";

[[noreturn]] void give_up(const std::string& reason) {
  fmt::print(stderr, "paired_verdicts: {}\n", reason);
  std::exit(1);
}

/// Another workload whose every inference takes a given share longer.
class Slowed final : public workload::Workload {
 public:
  Slowed(std::unique_ptr<workload::Workload> inner, double share) : inner_(std::move(inner)), share_(share) {}
  base::Result<void> prepare() override { return inner_->prepare(); }
  schema::TrialPhase phase() const noexcept override { return inner_->phase(); }
  base::Nanoseconds session_create_time() const noexcept override { return inner_->session_create_time(); }
  int concurrency() const noexcept override { return inner_->concurrency(); }
  double items_per_step() const noexcept override { return inner_->items_per_step(); }
  base::Error last_error(int caller) const override { return inner_->last_error(caller); }
  const base::Clock& clock() const noexcept override { return inner_->clock(); }
  base::Result<workload::OutputSet> outputs() override { return inner_->outputs(); }
  bool step(int caller) noexcept override {
    const auto begin = clock().now();
    const bool fine = inner_->step(caller);
    const auto end = clock().now();
    const auto until = end + base::from_seconds(base::to_seconds(end - begin) * share_);
    while (clock().now() < until) {
    }
    return fine;
  }

 private:
  std::unique_ptr<workload::Workload> inner_;
  double share_;
};

struct Tally {
  int compared = 0;
  int faster = 0;
  int slower = 0;
  int inconclusive = 0;
  double log_ratio = 0;
  double width = 0;
  void add(const schema::Comparison& comparison) {
    ++compared;
    faster += comparison.verdict == schema::Verdict::faster;
    slower += comparison.verdict == schema::Verdict::slower;
    inconclusive += comparison.verdict == schema::Verdict::inconclusive;
    log_ratio += std::log(comparison.ratio);
    width += comparison.high - comparison.low;
  }
};

std::unique_ptr<workload::Workload> make(const workload::WorkloadKind& kind, const schema::TrialSpec& spec) {
  auto made = kind.make(spec);
  if (!made) give_up(made.error().message);
  if (const auto prepared = (*made)->prepare(); !prepared) give_up(prepared.error().message);
  return std::move(*made);
}

measure::MakeWorkload maker(const workload::WorkloadKind& kind, const schema::TrialSpec& spec, double slower_by = 0) {
  return [&kind, spec, slower_by]() -> base::Result<std::unique_ptr<workload::Workload>> {
    auto made = make(kind, spec);
    if (slower_by == 0) return made;
    return std::make_unique<Slowed>(std::move(made), slower_by);
  };
}

/// New sessions for each comparison, as tune makes them. With a watch as on a GPU, where what it throttled its clocks
/// in is taken again.
schema::PairedMeasurement measure(const measure::MakeWorkload& a, const measure::MakeWorkload& b,
                                  const schema::PairedPlan& plan, gpu::RoundWatch* watch = nullptr) {
  measure::MeasureControl control;
  control.gpu = watch;
  auto measured = measure::measure_paired_rounds(a, b, plan, control);
  if (!measured) give_up(measured.error().message);
  return std::move(*measured);
}

/// The same with each session in a worker, which this program plays too.
schema::PairedMeasurement measure_across(const schema::TrialSpec& a, const schema::TrialSpec& b,
                                         const schema::PairedPlan& plan) {
  execute::WorkerOptions options;
  options.command = {base::executable_path().string(), kWorker};
  schema::PairedSpec pair;
  pair.base = a;
  pair.across = b;
  pair.other = b.configuration;
  pair.plan = plan;
  auto outcome = execute::run_pair(*fakes::make_local_executor(options), pair);
  if (!outcome) give_up(outcome.error().message);
  if (!outcome->measurement) give_up(outcome->failure->message);
  return std::move(*outcome->measurement);
}

schema::Comparison compare(const measure::MakeWorkload& a, const measure::MakeWorkload& b) {
  return analysis::compare_paired(measure(a, b, schema::PairedPlan{}), schema::Objective::latency, kMinEffect);
}

/// A line a block: the pair's title, its number, the pair of sessions, the block's number and arm, then the latencies
/// in nanoseconds. benchmarks/paired_raw.py reads it.
void write_raw(std::FILE* file, const char* title, int number, const schema::PairedMeasurement& measured) {
  for (std::size_t block = 0; block < measured.blocks.size(); ++block) {
    fmt::print(file, "{},{},{},{},{}", title, number, measured.blocks[block].round, block, measured.blocks[block].arm);
    for (const double latency : measured.blocks[block].latency_ns) fmt::print(file, ",{:.0f}", latency);
    fmt::print(file, "\n");
  }
  std::fflush(file);
}

void print(const char* title, const Tally& tally, const char* goal, double share, bool met) {
  fmt::print(
      "{:<34} {:>4} comparisons: {:>3} slower {:>3} faster {:>3} inconclusive; mean ratio {:.4f}, mean width {:.4f}; "
      "{:.1f} % ({}): {}\n",
      title, tally.compared, tally.slower, tally.faster, tally.inconclusive, std::exp(tally.log_ratio / tally.compared),
      tally.width / tally.compared, share * 100, goal, met ? "met" : "missed");
}

bool report(const Tally& same, const Tally& slowed) {
  const double false_share = static_cast<double>(same.faster + same.slower) / same.compared;
  print(kSame, same, "goal at most 5 %", false_share, false_share <= 0.05);
  if (slowed.compared == 0) return false_share <= 0.05;
  const double found_share = static_cast<double>(slowed.slower) / slowed.compared;
  print(kSlower, slowed, "goal at least 90 %", found_share, found_share >= 0.9);
  return false_share <= 0.05 && found_share >= 0.9;
}

bool simulated(const workload::WorkloadKind& kind) {
  Tally same;
  Tally slowed;
  const auto spec_of = [](int seed) {
    schema::TrialSpec spec;
    spec.workload.kind = "synthetic";
    spec.workload.location = fmt::format(
        "surface=flat,base=2ms,noise=3%,drift=2%,drift_period=15s,spikes=0.4%,spike_size=3,seed={},"
        "slowdown=3% if enable_mem_pattern=false",
        seed);
    return spec;
  };
  for (int seed = 1; seed <= 200; ++seed) {
    const auto spec = spec_of(seed);
    same.add(compare(maker(kind, spec), maker(kind, spec)));
    if (seed > 100) continue;
    auto other = spec;
    other.configuration.set("enable_mem_pattern", false);
    slowed.add(compare(maker(kind, spec), maker(kind, other)));
  }
  fmt::print("simulated: surface flat, 2 ms, noise 3 %, drift 2 % over 15 s, 0.4 % spikes of 3 times\n");
  return report(same, slowed);
}

/// The UUID of the GPU that CUDA counts first.
std::string first_gpu() {
  auto inventory = gpu::GpuInventory::read();
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) inventory.keep_visible(visible);
  if (inventory.gpus.empty()) give_up(inventory.note);
  return inventory.gpus.front().uuid;
}

struct Flags {
  std::string provider = "cpu";
  std::string ort;
  std::optional<std::int64_t> slower;
  std::string plan = "{}";
  schema::Configuration settings{{"intra_op_num_threads", 1}};
  bool across = false;
  std::optional<schema::Configuration> other;  ///< `settings` and those of --other
  schema::Objective objective = schema::Objective::latency;
};

bool real(const workload::WorkloadKind& kind, const std::string& model, int count, const char* raw,
          const Flags& flags) {
  std::FILE* const file = raw != nullptr ? std::fopen(raw, "w") : nullptr;
  if (raw != nullptr && file == nullptr) give_up(fmt::format("{} cannot be written", raw));
  workload::InspectRequest request;
  request.workload.kind = "onnx";
  request.workload.location = model;
  auto description = kind.inspect(request);
  if (!description) give_up(description.error().message);
  schema::TrialSpec spec;
  spec.workload = request.workload;
  spec.workload.shapes = description->shapes;
  for (const auto& input : description->inputs) spec.workload.dim_names[input.name] = input.dim_names;
  spec.configuration = flags.settings;
  spec.provider = flags.provider;
  spec.runtime.library_path = flags.ort;
  schema::PairedPlan usual;
  if (flags.provider != "cpu") measure::apply_gpu_defaults(spec.plan, usual);
  auto asked = base::parse_json(flags.plan, "--plan");
  if (!asked) give_up(asked.error().message);
  base::Json merged = usual;
  merged.merge_patch(*asked);
  auto read = base::json_as<schema::PairedPlan>(merged, "--plan");
  if (!read) give_up(read.error().message);
  const auto plan = std::move(*read);
  execute::GpuObserver observer;
  if (flags.provider != "cpu") spec.device = fmt::format("gpu:{}", first_gpu());
  Tally same;
  Tally slowed;
  auto other = spec;
  other.configuration = flags.other.value_or(spec.configuration);
  const auto one = [&](int number, const char* title, double slower_by, Tally& tally) {
    schema::PairedMeasurement measured;
    if (flags.across) {
      measured = measure_across(spec, other, plan);
    } else {
      observer.begin(spec);
      measured = measure(maker(kind, spec), maker(kind, other, slower_by), plan, observer.watch());
      static_cast<void>(observer.take());
    }
    const auto comparison = analysis::compare_paired(measured, flags.objective, kMinEffect,
                                                     spec.provider == "cpu" ? 0 : analysis::kGpuSessionStdev);
    tally.add(comparison);
    fmt::print("{:>3} {:<28} {:<14} ratio {:.4f} [{:.4f}, {:.4f}], {} ABBA rounds in {} rounds", number, title,
               base::enum_name(comparison.verdict), comparison.ratio, comparison.low, comparison.high,
               comparison.abba_rounds, measured.rounds);
    for (const auto& flag : measured.flags) fmt::print(", {}", flag.code);
    fmt::print("\n");
    std::fflush(stdout);
    if (file != nullptr) write_raw(file, title, number, measured);
  };
  const auto slower = flags.other || flags.across ? 0 : flags.slower.value_or(count);
  for (int i = 1; i <= count; ++i) {
    one(i, flags.other ? kOther : kSame, 0, same);
    if (i <= slower) one(i, kSlower, kInjected, slowed);
  }
  if (file != nullptr) std::fclose(file);
  fmt::print("{}\n", model);
  return flags.other || report(same, slowed);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == kWorker) return execute::worker_main(workload::make_default_registry());
  Flags flags;
  std::string slower;
  schema::Configuration other;
  std::vector<const char*> words;
  for (int at = 1; at < argc; ++at) {
    const std::string_view word = argv[at];
    std::string* const text = word == "--provider" ? &flags.provider
                              : word == "--ort"    ? &flags.ort
                              : word == "--plan"   ? &flags.plan
                              : word == "--slower" ? &slower
                                                   : nullptr;
    if (word == "--across") {
      flags.across = true;
      continue;
    }
    if (word == "--throughput") {
      flags.objective = schema::Objective::throughput;
      continue;
    }
    if (text == nullptr && word != "--set" && word != "--other") {
      words.push_back(argv[at]);
      continue;
    }
    if (at + 1 == argc) give_up(fmt::format("{}: its value is missing", word));
    const std::string_view value = argv[++at];
    if (text != nullptr) {
      *text = value;
      continue;
    }
    const auto setting = schema::parse_setting(value);
    if (!setting) give_up(setting.error().message);
    (word == "--set" ? flags.settings : other).set(setting->first, setting->second);
  }
  if (!other.empty()) flags.other = flags.settings.merged(other);
  if (!slower.empty()) {
    const auto count = base::parse_integer(slower, "--slower");
    if (!count) give_up(count.error().message);
    flags.slower = *count;
  }
  const auto registry = workload::make_default_registry();
  const auto kind = registry.find(words.empty() ? "synthetic" : "onnx");
  if (!kind) give_up(kind.error().message);
  const int count = words.size() > 1 ? std::max(1, std::atoi(words[1])) : 20;
  const bool met =
      words.empty() ? simulated(**kind) : real(**kind, words[0], count, words.size() > 2 ? words[2] : nullptr, flags);
  return met ? 0 : kGoalMissed;
}
