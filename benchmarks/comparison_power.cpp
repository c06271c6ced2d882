// SPDX-License-Identifier: Apache-2.0
// How far a verdict can be trusted: false "different" verdicts of a configuration against itself, and how often a real
// difference is found, over simulated machines of several tempers at the default PairedPlan.
// Usage: comparison_power [comparisons per line, default 2000]
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "analysis/comparison.hpp"
#include "fakes/noisy_machine.hpp"

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

constexpr Temper kTempers[] = {
    {"quiet", {.jitter = 0.01, .drift = 0.003, .spike_share = 0.0005}},
    {"usual", {}},
    {"shared, spiky", {.jitter = 0.05, .drift = 0.03, .drift_time_s = 2, .spike_share = 0.02, .spike_scale = 4}},
    {"heating up", {.jitter = 0.02, .drift = 0.01, .trend_per_s = 0.01}},
};

struct Shares {
  int faster = 0;
  int slower = 0;
  int missed = 0;  ///< intervals that do not contain the true ratio
};

template <typename Compare>
Shares repeat(int rounds, double true_ratio, Compare compare) {
  Shares shares;
  for (int round = 0; round < rounds; ++round) {
    const Comparison comparison = compare(static_cast<std::uint64_t>(round));
    shares.faster += comparison.verdict == Verdict::faster ? 1 : 0;
    shares.slower += comparison.verdict == Verdict::slower ? 1 : 0;
    shares.missed += comparison.low > true_ratio || comparison.high < true_ratio ? 1 : 0;
  }
  return shares;
}

void print_line(const char* design, const Temper& temper, const char* objective, double slow_down, double min_effect,
                int rounds, const Shares& shares) {
  const auto percent = [&](int count) { return 100.0 * count / rounds; };
  fmt::print("| {:<8} | {:<13} | {:<10} | {:>4.0f} % | {:>4.0f} % | {:>6.2f} % | {:>6.2f} % | {:>6.2f} % |\n", design,
             temper.name, objective, slow_down * 100, min_effect * 100, percent(shares.faster), percent(shares.slower),
             percent(shares.missed));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 2000;
  constexpr double kBaseNs = 5e6;
  fmt::print("{} comparisons a line, inference {:g} ms, default plan\n\n", rounds, kBaseNs * 1e-6);
  fmt::print("| design   | machine       | objective  | true   | least  | faster   | slower   | interval misses |\n");
  fmt::print("|----------|---------------|------------|--------|--------|----------|----------|-----------------|\n");
  for (const auto& temper : kTempers)
    for (const auto& [objective, name] :
         {std::pair(Objective::latency, "latency"), std::pair(Objective::throughput, "throughput"),
          std::pair(Objective::p99, "p99")})
      for (const double slow_down : {0.0, 0.03})
        for (const double min_effect : {0.0, 0.02}) {
          const auto shares = repeat(rounds, 1 / (1 + slow_down), [&, wanted = objective](std::uint64_t seed) {
            NoisyMachine machine(1 + seed, temper.noise);
            return compare_paired(machine.compare(kBaseNs, kBaseNs * (1 + slow_down), {}), wanted, min_effect);
          });
          print_line("paired", temper, name, slow_down, min_effect, rounds, shares);
        }
  for (const auto& temper : kTempers)
    for (const double slow_down : {0.0, 0.03, 0.1}) {
      const int few = std::max(1, rounds / 10);  // two 5 s runs cost as much as four paired comparisons
      const auto shares = repeat(few, 1 / (1 + slow_down), [&](std::uint64_t seed) {
        const auto a = NoisyMachine(1 + 2 * seed, temper.noise).measure(kBaseNs, 5);
        const auto b = NoisyMachine(2 + 2 * seed, temper.noise).measure(kBaseNs * (1 + slow_down), 5);
        return compare_separate(a, b, Objective::latency, 0.02);
      });
      print_line("separate", temper, "latency", slow_down, 0.02, few, shares);
    }
  return 0;
}
