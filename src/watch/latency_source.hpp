// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "watch/gpu_sampler.hpp"
#include "watch/latency_input.hpp"
#include "watch/probe_source.hpp"
#include "watch/service_inspector.hpp"

namespace ridgeline::watch {

/// Judges a service by the latencies that it writes: nothing is run.
class LatencySource final : public ProbeSource {
 public:
  LatencySource(std::unique_ptr<LatencyInput> input, ServiceInspector inspector, GpuSampler sampler);

  /// Without enough latencies since the last look there is no figure, and they are kept for the next.
  [[nodiscard]] base::Result<Observation> look() override;
  void look_closer(analysis::ServiceState& state) override;
  void reset() override { inspector_.forget(); }
  void set_baseline(const Baseline& baseline) override { inspector_.set_recommended(baseline.spec.configuration); }
  [[nodiscard]] base::Json position() const override { return input_->position(); }

 private:
  std::unique_ptr<LatencyInput> input_;
  ServiceInspector inspector_;
  GpuSampler sampler_;
  LatencyWindow window_;
};

}  // namespace ridgeline::watch
