// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "schema/measurement.hpp"

namespace ridgeline::fakes {

/// Blocks of `rounds` pairs of sessions that each differ by chance (`ratio_stdev`, of their log ratio), with noise from
/// ABBA round to ABBA round besides; B takes `slower` times as long as A.
inline schema::PairedMeasurement with_sessions(std::uint64_t seed, int rounds, double ratio_stdev, double abba_stdev,
                                               double slower) {
  base::Random random(seed);
  schema::PairedMeasurement measurement;
  for (int round = 0; round < rounds; ++round) {
    const double session = std::exp(ratio_stdev * random.normal());
    for (int abba_round = 0; abba_round < 6; ++abba_round) {
      const double a = 1e6 * std::exp(abba_stdev * random.normal());
      for (const char arm : {'A', 'B', 'B', 'A'})
        measurement.blocks.push_back(
            {arm, std::vector<double>(5, arm == 'A' ? a : 1e6 * session * slower), 5e6, round});
    }
  }
  return measurement;
}

/// The same with sessions that differ by which was made first as well (`turn`: the first is so much slower), made for
/// the comparison.
inline schema::PairedMeasurement with_turns(std::uint64_t seed, int rounds, double turn, double ratio_stdev,
                                            double slower = 1) {
  auto measurement = with_sessions(seed, rounds, ratio_stdev, 0.01, slower);
  measurement.rounds = rounds;
  for (auto& block : measurement.blocks)
    for (double& latency : block.latency_ns)
      if ((block.arm == 'A') == (block.round % 2 == 0)) latency *= 1 + turn;
  return measurement;
}

}  // namespace ridgeline::fakes
