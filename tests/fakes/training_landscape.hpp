// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/random.hpp"
#include "schema/training_run.hpp"
#include "workload/training/synthetic_step_runner.hpp"

namespace ridgeline::fakes {

/// A made-up machine and model whose fastest settings are known.
struct TrainingLandscape {
  std::string kind;
  workload::SyntheticStepOptions options;
  double noise = 0.01;
  std::string target;  ///< TrainingJob::target that makes it
};

/// Number `seed` of an endless series: eight kinds in turn, with 1 % and 3 % noise. `startup_ms`: of every trial.
inline TrainingLandscape training_landscape(std::uint64_t seed, double startup_ms = 1500) {
  base::Random random(seed);
  const auto between = [&](double low, double high) { return low * std::pow(high / low, random.uniform()); };
  double compute_us = between(10, 500);
  double fill = between(2, 200);
  double launch_ms = between(0.2, 8);
  double decode_us = between(20, 3000);
  const double read_us = between(5, 300);
  double storage_rate = random.below(3) == 0 ? between(2000, 20000) : 0;
  double amp_gain = 0.9 + 1.5 * random.uniform();
  double sample_kb = between(10, 600);
  double pageable_gb_s = between(2, 12);
  double memory_gb = between(8, 140);
  double sample_gb = between(0.002, 0.05);
  double cores = between(6, 24);
  double over = 0.6;
  static constexpr std::array kKinds{"mixed",           "loader-bound", "compute-bound",  "memory-limited",
                                     "pageable copies", "AMP gains",    "oversubscribed", "launch-bound"};
  const auto kind = seed % kKinds.size();
  switch (kind) {
    case 1:
      decode_us = between(2000, 20000);
      cores = between(4, 16);
      break;
    case 2:
      compute_us = between(300, 2000);
      decode_us = between(20, 300);
      storage_rate = 0;
      break;
    case 3: sample_gb = memory_gb / between(16, 1500); break;
    case 4:
      sample_kb = between(300, 2000);
      pageable_gb_s = between(1, 4);
      decode_us = between(20, 200);
      break;
    case 5:
      amp_gain = between(0.6, 4);
      compute_us = between(100, 1000);
      break;
    case 6:
      cores = between(2, 8);
      over = between(0.5, 2);
      break;
    case 7:
      launch_ms = between(5, 50);
      decode_us = between(20, 300);
      break;
    default: break;
  }
  TrainingLandscape out;
  out.kind = kKinds[kind];
  out.noise = (seed / kKinds.size()) % 2 == 0 ? 0.01 : 0.03;
  out.target = fmt::format(
      "seed={},compute_us={:.1f},fill={:.0f},launch_ms={:.2f},decode_us={:.0f},read_us={:.0f},storage_rate={:.0f},"
      "amp_gain={:.2f},sample_kb={:.0f},pageable_gb_s={:.1f},memory_gb={:.0f},sample_gb={:.5f},cores={:.0f},over={:.2f}"
      ","
      "noise={},startup_ms={:.0f}",
      seed, compute_us, fill, launch_ms, decode_us, read_us, storage_rate, amp_gain, sample_kb, pageable_gb_s,
      memory_gb, sample_gb, cores, over, out.noise, startup_ms);
  out.options = workload::parse_step_options(out.target).value();
  return out;
}

/// Samples/s that the settings have without noise; 0 where they do not fit.
inline double true_rate(const workload::SyntheticStepOptions& options, const schema::TrainingSettings& settings) {
  using schema::DataMode;
  if (workload::synthetic_memory_gb(options, settings, DataMode::loader) > options.memory_gb) return 0;
  return static_cast<double>(settings.batch) /
         workload::synthetic_phases(options, settings, DataMode::loader, false).wall_ms * 1000;
}

/// The most of all combinations.
inline double best_true_rate(const workload::SyntheticStepOptions& options, const schema::TrainingSpace& space) {
  double best = 0;
  for (const auto batch : space.batches)
    for (const int workers : space.workers)
      for (const auto amp : space.amps)
        for (const bool pin : space.pins) best = std::max(best, true_rate(options, {batch, workers, amp, pin}));
  return best;
}

/// What `ridgeline bench` tries on a GPU when nothing is said.
inline schema::TrainingSpace default_training_space() {
  using schema::AmpMode;
  return {{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192},
          {0, 1, 2, 4, 8, 16},
          {AmpMode::off, AmpMode::bf16},
          {false, true}};
}

}  // namespace ridgeline::fakes
