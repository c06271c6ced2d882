// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "execute/executor.hpp"
#include "execute/worker_requests.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::fakes {

/// Answers as a worker does, without a process: what simulations of thousands of runs have time for. The clock must be
/// the one that the registry's workloads live on; both must outlive the executor.
class InProcessExecutor final : public execute::Executor {
 public:
  static base::Result<std::unique_ptr<InProcessExecutor>> make(const workload::WorkloadRegistry& registry,
                                                               const base::Clock& clock) {
    RL_TRY_ASSIGN(auto status, execute::SharedStatus::create());
    return std::unique_ptr<InProcessExecutor>(new InProcessExecutor(registry, clock, std::move(status)));
  }

  base::Result<schema::RuntimeIdentity> probe(const std::string& kind, const std::string& library) override {
    return ask<schema::RuntimeIdentity>(execute::FrameType::probe, execute::ProbeRequest{kind, library});
  }
  base::Result<schema::ModelDescription> inspect(const workload::InspectRequest& request) override {
    return ask<schema::ModelDescription>(execute::FrameType::inspect,
                                         execute::InspectMessage{request.workload, request.runtime_library});
  }
  base::Result<schema::TrialOutcome> run_trial(const schema::TrialSpec& spec,
                                               const execute::TrialOptions& options) override {
    const execute::TrialRequest request{spec, options.abandon_above_ns, options.throughput,
                                        options.reference_outputs.string(), options.keep_session};
    const auto begun = clock_.now();
    auto outcome =
        execute::read_trial_outcome(requests_.answer(execute::make_frame(execute::FrameType::trial, request)));
    if (outcome) outcome->duration_s = base::to_seconds(clock_.now() - begun);
    return outcome;
  }
  base::Result<schema::PairedOutcome> run_pair(const schema::PairedSpec& spec,
                                               const execute::TimeLeft& time_left) override {
    const double left_s = std::isfinite(time_left.seconds) ? std::max(1e-3, time_left.seconds) : 0;
    const auto begun = clock_.now();
    auto outcome = execute::read_paired_outcome(
        requests_.answer(execute::make_frame(execute::FrameType::pair, execute::PairRequest{spec, left_s})));
    if (outcome) outcome->duration_s = base::to_seconds(clock_.now() - begun);
    return outcome;
  }
  base::Result<schema::AccuracyDrift> make_reference(const schema::TrialSpec& spec, const std::filesystem::path& path,
                                                     const execute::TimeLeft&) override {
    return ask<schema::AccuracyDrift>(execute::FrameType::reference, execute::ReferenceRequest{spec, path.string()});
  }
  base::Result<schema::GpuCeilings> gpu_ceilings(const std::string&, const std::string&) override {
    return base::fail(base::ErrorCode::unavailable, "simulated");
  }

 private:
  InProcessExecutor(const workload::WorkloadRegistry& registry, const base::Clock& clock, execute::SharedStatus status)
      : clock_(clock), status_(std::move(status)), heartbeat_(*status_), requests_(registry, *status_, heartbeat_) {}

  template <typename T, typename Request>
  base::Result<T> ask(execute::FrameType type, const Request& request) {
    const auto frame = requests_.answer(execute::make_frame(type, request));
    if (frame.type == execute::FrameType::error) return tl::unexpected<base::Error>(execute::read_error_frame(frame));
    return execute::read_frame<T>(frame, "answer");
  }

  const base::Clock& clock_;
  execute::SharedStatus status_;
  execute::Heartbeat heartbeat_;
  execute::WorkerRequests requests_;
};

}  // namespace ridgeline::fakes
