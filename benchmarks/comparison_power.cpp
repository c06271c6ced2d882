// SPDX-License-Identifier: Apache-2.0
// How far a verdict can be trusted: false "different" verdicts of a configuration against itself, and how often a real
// difference is found, over simulated machines of several tempers at the default PairedPlan. The measuring code itself
// runs, so that its warm-up, mirrored ABBA rounds and stopping rule count; only the pauses between blocks are left out.
// Usage: comparison_power [comparisons per line, default 2000] [separate: of those only two separate runs]
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/comparison.hpp"
#include "fakes/fake_clock.hpp"
#include "fakes/noisy_machine.hpp"
#include "measure/measurement_session.hpp"

namespace {

using ridgeline::analysis::compare_paired;
using ridgeline::analysis::compare_separate;
using ridgeline::fakes::NoisyMachine;
using ridgeline::schema::Comparison;
using ridgeline::schema::Objective;
using ridgeline::schema::Verdict;

struct Temper {
  const char* name;
  NoisyMachine::Noise noise;
};

constexpr double kBaseNs = 5e6;
constexpr Temper kTempers[] = {
    {"quiet", {.jitter = 0.01, .drift = 0.003, .spike_share = 0.0005}},
    {"usual", {}},
    {"shared, spiky", {.jitter = 0.05, .drift = 0.03, .drift_time_s = 2, .spike_share = 0.02, .spike_scale = 4}},
    {"heating up", {.jitter = 0.02, .drift = 0.01, .trend_per_s = 0.01}},
};

constexpr std::pair<Objective, const char*> kObjectives[] = {
    {Objective::latency, "latency"}, {Objective::throughput, "throughput"}, {Objective::p99, "p99"}};
constexpr double kSlowDowns[] = {0.0, 0.03};
constexpr double kMinEffects[] = {0.0, 0.02};

struct Shares {
  int faster = 0;
  int slower = 0;
  int missed = 0;       ///< intervals that do not contain the true ratio
  int abba_rounds = 0;  ///< of all comparisons together

  void add(const Comparison& comparison, double true_ratio) {
    faster += comparison.verdict == Verdict::faster ? 1 : 0;
    slower += comparison.verdict == Verdict::slower ? 1 : 0;
    missed += comparison.low > true_ratio || comparison.high < true_ratio ? 1 : 0;
    abba_rounds += comparison.abba_rounds;
  }
};

/// One arm: inferences of a machine that both arms share, as they share its clock.
class Arm final : public ridgeline::workload::Workload {
 public:
  Arm(NoisyMachine& machine, ridgeline::fakes::FakeClock& clock, double base_ns)
      : machine_(machine), clock_(clock), base_ns_(base_ns) {}
  ridgeline::base::Result<void> prepare() override { return {}; }
  ridgeline::schema::TrialPhase phase() const noexcept override { return ridgeline::schema::TrialPhase::measure; }
  ridgeline::base::Nanoseconds session_create_time() const noexcept override { return {}; }
  int concurrency() const noexcept override { return 1; }
  double items_per_step() const noexcept override { return 1; }
  bool step(int) noexcept override {
    clock_.advance(ridgeline::base::from_seconds(machine_.infer(base_ns_) * 1e-9));
    return true;
  }
  ridgeline::base::Error last_error(int) const override { return {}; }
  const ridgeline::base::Clock& clock() const noexcept override { return clock_; }
  ridgeline::base::Result<ridgeline::workload::OutputSet> outputs() override { return {}; }

 private:
  NoisyMachine& machine_;
  ridgeline::fakes::FakeClock& clock_;
  double base_ns_;
};

ridgeline::schema::PairedMeasurement measure(std::uint64_t seed, const NoisyMachine::Noise& noise, double slow_down) {
  NoisyMachine machine(seed, noise);
  ridgeline::fakes::FakeClock clock;
  Arm a(machine, clock, kBaseNs);
  Arm b(machine, clock, kBaseNs * (1 + slow_down));
  ridgeline::measure::MeasureControl control;
  auto measured = ridgeline::measure::measure_paired(a, b, {}, control);
  if (!measured) {
    fmt::print(stderr, "comparison_power: {}\n", measured.error().message);
    std::exit(1);
  }
  return std::move(*measured);
}

void print_line(const char* design, const Temper& temper, const char* objective, double slow_down, double min_effect,
                int rounds, const Shares& shares) {
  const auto percent = [&](int count) { return 100.0 * count / rounds; };
  fmt::print("| {:<8} | {:<13} | {:<10} | {:>4.0f} % | {:>4.0f} % | {:>6.2f} % | {:>6.2f} % | {:>6.2f} % | {:>5} |\n",
             design, temper.name, objective, slow_down * 100, min_effect * 100, percent(shares.faster),
             percent(shares.slower), percent(shares.missed),
             shares.abba_rounds > 0 ? fmt::format("{:.1f}", static_cast<double>(shares.abba_rounds) / rounds) : "-");
}

/// Two separate runs, by `compare`'s default minimum effect and by a smaller one.
void print_separate(const Temper& temper, double slow_down, int rounds) {
  const int few = std::max(1, rounds / 10);  // two 5 s runs cost as much as four paired comparisons
  const double effects[] = {0.02, ridgeline::analysis::separate_min_effect()};
  Shares shares[std::size(effects)];
  for (int round = 0; round < few; ++round) {
    const auto seed = static_cast<std::uint64_t>(round);
    const auto a = NoisyMachine(1 + 2 * seed, temper.noise).measure(kBaseNs, 5);
    const auto b = NoisyMachine(2 + 2 * seed, temper.noise).measure(kBaseNs * (1 + slow_down), 5);
    for (std::size_t effect = 0; effect < std::size(effects); ++effect)
      shares[effect].add(compare_separate(a, b, Objective::latency, effects[effect]), 1 / (1 + slow_down));
  }
  for (std::size_t effect = 0; effect < std::size(effects); ++effect)
    print_line("separate", temper, "latency", slow_down, effects[effect], few, shares[effect]);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 2000;
  fmt::print("{} comparisons a line, inference {:g} ms, default plan\n\n", rounds, kBaseNs * 1e-6);
  fmt::print(
      "| design   | machine       | objective  | true   | least  | faster   | slower   | interval misses | ABBA rounds "
      "|\n");
  fmt::print(
      "|----------|---------------|------------|--------|--------|----------|----------|-----------------|-------|\n");
  const bool only_separate = argc > 2 && std::string_view(argv[2]) == "separate";
  for (const auto& temper : kTempers) {
    if (only_separate) break;
    Shares shares[std::size(kObjectives)][std::size(kSlowDowns)][std::size(kMinEffects)];
    for (std::size_t slow = 0; slow < std::size(kSlowDowns); ++slow)
      for (int round = 0; round < rounds; ++round) {
        const auto measured = measure(1 + static_cast<std::uint64_t>(round), temper.noise, kSlowDowns[slow]);
        for (std::size_t objective = 0; objective < std::size(kObjectives); ++objective)
          for (std::size_t effect = 0; effect < std::size(kMinEffects); ++effect)
            shares[objective][slow][effect].add(
                compare_paired(measured, kObjectives[objective].first, kMinEffects[effect]),
                1 / (1 + kSlowDowns[slow]));
      }
    for (std::size_t objective = 0; objective < std::size(kObjectives); ++objective)
      for (std::size_t slow = 0; slow < std::size(kSlowDowns); ++slow)
        for (std::size_t effect = 0; effect < std::size(kMinEffects); ++effect)
          print_line("paired", temper, kObjectives[objective].second, kSlowDowns[slow], kMinEffects[effect], rounds,
                     shares[objective][slow][effect]);
  }
  for (const auto& temper : kTempers)
    for (const double slow_down : {0.0, 0.03, 0.05, 0.1}) print_separate(temper, slow_down, rounds);
  return 0;
}
