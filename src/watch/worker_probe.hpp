// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "watch/baseline.hpp"
#include "watch/gpu_sampler.hpp"
#include "watch/probe_source.hpp"
#include "watch/service_inspector.hpp"

namespace ridgeline::watch {

/// A short trial of the settings in the user's file, in a worker.
class WorkerProbe final : public ProbeSource {
 public:
  struct Options {
    Baseline baseline;
    double probe_time_s = 2;  ///< longest timed window; it ends earlier when the median is known to 1 %
    /// Between probes, with the session; false: a fresh process each, which holds no GPU memory meanwhile.
    bool keep_worker = true;
  };

  WorkerProbe(Options options, ServiceInspector inspector, GpuSampler sampler);

  [[nodiscard]] base::Result<Observation> look() override;
  void look_closer(analysis::ServiceState& state) override { inspector_.inspect_afresh(state); }
  void reset() override { inspector_.forget(); }
  void set_baseline(const Baseline& baseline) override;

  /// How long and how often a probe times.
  [[nodiscard]] static schema::MeasurementPlan plan_for(schema::MeasurementPlan plan, double probe_time_s);

 private:
  Options options_;
  ServiceInspector inspector_;
  GpuSampler sampler_;
};

}  // namespace ridgeline::watch
