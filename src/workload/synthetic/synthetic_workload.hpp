// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "workload/synthetic/machine_load.hpp"
#include "workload/synthetic/synthetic_options.hpp"
#include "workload/synthetic/virtual_clock.hpp"
#include "workload/workload.hpp"

namespace ridgeline::workload {

/// A workload whose times follow a known formula: see SyntheticOptions. Equal options, seed, configuration,
/// `instance` and time of the virtual clock give equal times. On the virtual clock callers are to be stepped one after
/// another (as measure does): each has a time line of its own.
class SyntheticWorkload final : public Workload {
 public:
  /// `instance` tells several workloads of one process apart, so that comparing a configuration with itself compares
  /// two different draws of the noise.
  SyntheticWorkload(SyntheticOptions options, const schema::TrialSpec& spec, std::shared_ptr<const VirtualClock> clock,
                    std::uint64_t instance);
  /// The same with `relative_duration` in place of that of the options' surface: one inference of an undisturbed
  /// machine as a multiple of SyntheticOptions::base.
  SyntheticWorkload(SyntheticOptions options, const schema::TrialSpec& spec, std::shared_ptr<const VirtualClock> clock,
                    std::uint64_t instance, double relative_duration);

  [[nodiscard]] base::Result<void> prepare() override;
  [[nodiscard]] schema::TrialPhase phase() const noexcept override { return phase_.load(); }
  [[nodiscard]] base::Nanoseconds session_create_time() const noexcept override { return session_create_time_; }
  [[nodiscard]] int concurrency() const noexcept override { return static_cast<int>(callers_.size()); }
  [[nodiscard]] double items_per_step() const noexcept override { return items_per_step_; }
  [[nodiscard]] bool enter_thread(int caller) noexcept override;
  [[nodiscard]] bool step(int caller) noexcept override;
  [[nodiscard]] base::Error last_error(int caller) const override;
  [[nodiscard]] const base::Clock& clock() const noexcept override;
  [[nodiscard]] base::Result<OutputSet> outputs() override;
  [[nodiscard]] std::map<std::string, std::string> effective_settings() const override;
  void share_phase(std::atomic<schema::TrialPhase>& cell) noexcept override { shared_phase_ = &cell; }

 private:
  struct alignas(64) Caller {
    explicit Caller(std::uint64_t seed) : random(seed) {}
    base::Random random;
    std::int64_t steps = 0;
    base::Error error;
    schema::TrialPhase faulted = schema::TrialPhase::launch;  ///< the phase whose fault this caller has already shown
  };
  void enter(schema::TrialPhase phase) noexcept;
  [[nodiscard]] base::Result<void> read_load();
  [[nodiscard]] base::Result<void> show_fault(schema::TrialPhase phase) const;
  [[nodiscard]] base::Nanoseconds next_duration(Caller& caller) noexcept;
  [[nodiscard]] double machine_factor() noexcept;
  void spend(base::Nanoseconds duration) const noexcept;

  SyntheticOptions options_;
  schema::Configuration configuration_;
  std::shared_ptr<const VirtualClock> virtual_clock_;
  std::uint64_t output_seed_;
  double step_ns_;
  double load_ = 1;  ///< of SyntheticOptions::load_file
  double items_per_step_;
  MachineLoad machine_;
  base::Nanoseconds begin_;  ///< of the run, on its clock
  std::vector<Caller> callers_;
  std::string memory_;
  base::Nanoseconds session_create_time_{};
  std::atomic<schema::TrialPhase> phase_{schema::TrialPhase::load_runtime};
  std::atomic<schema::TrialPhase>* shared_phase_ = nullptr;
};

}  // namespace ridgeline::workload
