// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "measure/concurrent_runner.hpp"
#include "measure/measurement_session.hpp"
#include "measure/paired_arm.hpp"
#include "workload/workload.hpp"

namespace ridgeline::measure {

/// Makes a prepared workload.
using MakeWorkload = std::function<base::Result<std::unique_ptr<workload::Workload>>()>;

/// An arm in this process.
class LocalArm final : public PairedArm {
 public:
  /// `workload`: prepared. The control block must outlive the arm.
  LocalArm(std::shared_ptr<workload::Workload> workload, MeasureControl& control)
      : workload_(std::move(workload)), control_(control) {}
  /// Makes one and runs it once.
  [[nodiscard]] static base::Result<std::unique_ptr<PairedArm>> make(const MakeWorkload& make, MeasureControl& control);

  [[nodiscard]] base::Result<std::optional<schema::QualityFlag>> warm_up(const schema::MeasurementPlan& plan) override;
  [[nodiscard]] base::Result<TimedBlock> run_block(const schema::PairedPlan& plan) override;
  [[nodiscard]] double items_per_inference() const override { return workload_->items_per_step(); }
  [[nodiscard]] std::vector<schema::QualityFlag> flags() const override { return workload_->flags(); }
  [[nodiscard]] bool real_time() const override { return workload_->clock().is_real(); }

 private:
  [[nodiscard]] bool cancelled() const noexcept { return control_.cancel.load(std::memory_order_relaxed); }

  std::shared_ptr<workload::Workload> workload_;
  MeasureControl& control_;
  std::unique_ptr<ConcurrentRunner> runner_;  ///< last: uses the rest
};

}  // namespace ridgeline::measure
