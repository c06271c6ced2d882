// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "execute/fork_server_client.hpp"
#include "execute/gpu_observer.hpp"
#include "execute/heartbeat.hpp"
#include "execute/message.hpp"
#include "execute/wire_frame.hpp"
#include "execute/worker_status.hpp"
#include "measure/paired_arm.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::execute {

/// Answers requests inside a worker process.
class WorkerRequests {
 public:
  WorkerRequests(const workload::WorkloadRegistry& registry, WorkerStatus& status, Heartbeat& heartbeat)
      : registry_(registry), status_(status), heartbeat_(heartbeat) {
    status_.control.clock = &base::system_clock();  // the parent, who made it, has it elsewhere
  }

  /// Never fails: what goes wrong becomes an outcome with a status, or an error frame when the request itself or our
  /// own files are at fault. Exceptions of libraries end here.
  [[nodiscard]] WireFrame answer(const WireFrame& request);

 private:
  [[nodiscard]] base::Result<JobAnswer> dispatch(const std::string& kind, const base::Json& request);
  [[nodiscard]] base::Result<JobAnswer> find(const FindRequest& request);
  [[nodiscard]] base::Result<JobAnswer> probe(const ProbeRequest& request);
  [[nodiscard]] base::Result<JobAnswer> inspect(const InspectMessage& request);
  [[nodiscard]] base::Result<JobAnswer> export_models(const ExportRequest& request);
  [[nodiscard]] base::Result<JobAnswer> ahead(const workload::AheadRequest& request);
  [[nodiscard]] base::Result<JobAnswer> trial(const TrialRequest& request);
  [[nodiscard]] base::Result<JobAnswer> pair(const PairRequest& request);
  [[nodiscard]] base::Result<JobAnswer> arm(const ArmRequest& request);
  [[nodiscard]] base::Result<void> advance_arm(const ArmRequest& request, ArmAnswer& answer, JobAnswer& out);
  [[nodiscard]] base::Result<JobAnswer> reference(const ReferenceRequest& request);
  [[nodiscard]] base::Result<JobAnswer> ceilings(const ProbeRequest& request);
  [[nodiscard]] base::Result<JobAnswer> graph(const GraphRequest& request);
  [[nodiscard]] base::Result<JobAnswer> profile(const ProfileRequest& request);

  [[nodiscard]] base::Result<std::unique_ptr<workload::Workload>> prepared(const schema::TrialSpec& spec,
                                                                           bool watch_gpu = true);
  /// What is prepared ahead, while a trial on a GPU is timed.
  [[nodiscard]] StandStill stand_still(const schema::TrialSpec& spec);
  /// The workload that the trial before has kept, when it is of this spec; else nullptr, and it is gone.
  [[nodiscard]] std::unique_ptr<workload::Workload> take_kept(const schema::TrialSpec& spec);
  [[nodiscard]] base::Result<schema::Measurement> measured(workload::Workload& workload, const TrialRequest& request);
  /// What a request leaves behind must not follow the next one.
  void release();
  void enter(schema::TrialPhase phase) noexcept { status_.control.phase.store(phase); }
  [[nodiscard]] schema::TrialPhase phase() const noexcept { return status_.control.phase.load(); }

  const workload::WorkloadRegistry& registry_;
  WorkerStatus& status_;
  Heartbeat& heartbeat_;
  GpuObserver gpu_;
  bool served_trial_ = false;
  std::unique_ptr<workload::Workload>
      kept_;  ///< of TrialRequest::keep_session; while it rests nothing else is prepared
  std::string kept_key_;
  std::unique_ptr<measure::PairedArm> arm_;  ///< of ArmStep::make
};

}  // namespace ridgeline::execute
