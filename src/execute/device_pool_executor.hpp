// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "execute/executor.hpp"

namespace ridgeline::execute {

/// Several executors of like devices as one with a lane each. Lane 0 works on the caller's thread, as it would alone;
/// each other lane is made, used and destroyed on a thread of its own, because workers die with the thread that
/// started them. One calling thread at a time.
class DevicePoolExecutor final : public Executor {
 public:
  using Make = std::function<std::unique_ptr<Executor>()>;

  /// At least one. `first` answers everything but run_trials.
  DevicePoolExecutor(std::unique_ptr<Executor> first, const std::vector<Make>& others);
  ~DevicePoolExecutor() override;

  base::Result<schema::RuntimeIdentity> probe(const std::string& kind, const std::string& library) override;
  base::Result<schema::ModelDescription> inspect(const workload::InspectRequest& request) override;
  base::Result<schema::TrialOutcome> run_trial(const schema::TrialSpec& spec, const TrialOptions& options) override;
  base::Result<schema::PairedOutcome> run_pair(const schema::PairedSpec& spec, const TimeLeft& time_left) override;
  base::Result<schema::AccuracyDrift> make_reference(const schema::TrialSpec& spec, const std::filesystem::path& path,
                                                     const TimeLeft& time_left) override;
  base::Result<schema::GpuCeilings> gpu_ceilings(const std::string& kind, const std::string& library) override;
  base::Result<schema::RuntimeGraph> runtime_graph(const schema::TrialSpec& spec) override;
  [[nodiscard]] std::size_t lanes() const override { return 1 + others_.size(); }
  std::vector<base::Result<schema::TrialOutcome>> run_trials(const std::vector<TrialJob>& jobs) override;

 private:
  class Lane;
  std::unique_ptr<Executor> first_;
  std::vector<std::unique_ptr<Lane>> others_;
};

}  // namespace ridgeline::execute
