// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "execute/worker_requests.hpp"
#include "fakes/typed_executor.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::fakes {

/// Answers as a worker does, without a process: what simulations of thousands of runs have time for. The clock must be
/// the one that the registry's workloads live on; both must outlive the executor.
class InProcessExecutor final : public TypedExecutor {
 public:
  static base::Result<std::unique_ptr<InProcessExecutor>> make(const workload::WorkloadRegistry& registry,
                                                               const base::Clock& clock) {
    RL_TRY_ASSIGN(auto status, execute::SharedStatus::create());
    return std::unique_ptr<InProcessExecutor>(new InProcessExecutor(registry, clock, std::move(status)));
  }

  base::Result<schema::RuntimeIdentity> probe(const std::string& kind, const std::string& library) override {
    return ask<schema::RuntimeIdentity>(execute::job_kind::kProbe, execute::ProbeRequest{kind, library});
  }
  base::Result<schema::ModelDescription> inspect(const workload::InspectRequest& request) override {
    return ask<schema::ModelDescription>(
        execute::job_kind::kInspect,
        execute::InspectMessage{request.workload, request.runtime_library, request.length});
  }
  base::Result<schema::TrialOutcome> run_trial(const schema::TrialSpec& spec,
                                               const execute::TrialOptions& options) override {
    return timed<schema::TrialOutcome>(
        execute::job_kind::kTrial,
        execute::TrialRequest{spec, options.stop_above_ns, options.throughput, options.reference_outputs.string(),
                              options.keep_session, options.apart});
  }
  base::Result<schema::PairedOutcome> run_pair(const schema::PairedSpec& spec,
                                               const execute::TimeLeft& time_left) override {
    const double left_s = std::isfinite(time_left.seconds) ? std::max(1e-3, time_left.seconds) : 0;
    return timed<schema::PairedOutcome>(execute::job_kind::kPair, execute::PairRequest{spec, left_s, true});
  }
  base::Result<schema::OutputError> make_reference(const schema::TrialSpec& spec, const std::filesystem::path& path,
                                                   const execute::TimeLeft&) override {
    return ask<schema::OutputError>(execute::job_kind::kReference, execute::ReferenceRequest{spec, path.string()});
  }
  base::Result<schema::GpuCeilings> gpu_ceilings(const std::string&, const std::string&) override {
    return base::fail(base::ErrorCode::unavailable, "simulated");
  }
  [[nodiscard]] const base::Clock& clock() const noexcept override { return clock_; }

 private:
  InProcessExecutor(const workload::WorkloadRegistry& registry, const base::Clock& clock, execute::SharedStatus status)
      : clock_(clock), status_(std::move(status)), heartbeat_(*status_), requests_(registry, *status_, heartbeat_) {}

  template <typename T>
  base::Result<T> ask(std::string_view kind, const base::Json& request) {
    auto frame = requests_.answer(execute::make_job_frame(kind, request));
    if (frame.type == execute::FrameType::error) return tl::unexpected<base::Error>(execute::read_error_frame(frame));
    RL_TRY_ASSIGN(auto answer, execute::read_frame(std::move(frame)));
    return execute::read_answer<T>(std::move(answer));
  }
  template <typename T>
  base::Result<T> timed(std::string_view kind, const base::Json& request) {
    const auto begun = clock_.now();
    auto outcome = ask<T>(kind, request);
    if (outcome) outcome->duration_s = base::to_seconds(clock_.now() - begun);
    return outcome;
  }

  const base::Clock& clock_;
  execute::SharedStatus status_;
  execute::Heartbeat heartbeat_;
  execute::WorkerRequests requests_;
};

}  // namespace ridgeline::fakes
