// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "base/random.hpp"
#include "schema/measurement.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::fakes {

/// Inference times of a shared machine, without a machine: lognormal jitter, a slowly wandering speed (AR(1) in time,
/// as clocks and temperature do) and rare spikes (another process). Time advances with what is "run", so that drift
/// hits interleaved arms as it would in life.
class NoisyMachine {
 public:
  struct Noise {
    double jitter = 0.03;         ///< log standard deviation of one inference
    double drift = 0.015;         ///< log standard deviation of the wandering speed
    double drift_time_s = 3;      ///< over which the wander forgets itself
    double trend_per_s = 0.0005;  ///< log slow-down a second: a warming machine
    double spike_share = 0.004;   ///< inferences hit by a spike
    double spike_scale = 2;       ///< mean of the added time, in inferences
  };

  NoisyMachine(std::uint64_t seed, Noise noise)
      : random_(seed), noise_(noise), wander_(noise.drift * random_.normal()) {}
  explicit NoisyMachine(std::uint64_t seed) : NoisyMachine(seed, Noise{}) {}

  /// One inference of a workload that takes `base_ns` on an undisturbed machine.
  double infer(double base_ns) {
    idle(base_ns * 1e-9);
    double time = base_ns * std::exp(noise_.jitter * random_.normal() + wander_ + noise_.trend_per_s * now_s_);
    if (random_.uniform() < noise_.spike_share) time -= base_ns * noise_.spike_scale * std::log(1 - random_.uniform());
    return time;
  }

  /// Lets time pass.
  void idle(double seconds) {
    now_s_ += seconds;
    const double memory = std::exp(-seconds / noise_.drift_time_s);
    wander_ = memory * wander_ + std::sqrt(1 - memory * memory) * noise_.drift * random_.normal();
  }

  [[nodiscard]] schema::PairedMeasurement compare(double a_ns, double b_ns, const schema::PairedPlan& plan) {
    schema::PairedMeasurement result;
    for (int block = 0; block < 4 * plan.abba_rounds; ++block) {
      const bool is_a = block % 4 == 0 || block % 4 == 3;
      idle(plan.settle_s);
      result.blocks.push_back(run(is_a ? 'A' : 'B', is_a ? a_ns : b_ns, plan.block_time_s));
    }
    return result;
  }

  [[nodiscard]] schema::Measurement measure(double base_ns, double seconds) {
    auto block = run('A', base_ns, seconds);
    schema::Measurement result;
    result.latency_ns = std::move(block.latency_ns);
    result.wall_ns = block.wall_ns;
    return result;
  }

 private:
  schema::PairedBlock run(char arm, double base_ns, double seconds) {
    schema::PairedBlock block;
    block.arm = arm;
    while (block.wall_ns < seconds * 1e9 || block.latency_ns.size() < 3) {
      block.latency_ns.push_back(infer(base_ns));
      block.wall_ns += block.latency_ns.back();
    }
    return block;
  }

  base::Random random_;
  Noise noise_;
  double now_s_ = 0;
  double wander_;
};

}  // namespace ridgeline::fakes
