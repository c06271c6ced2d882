// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "schema/measurement.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::measure {

/// Counts the samples of a comparison's arms: how long it may go on depends on whether they suffice.
class PairedBudget {
 public:
  /// The plan must outlive the budget.
  explicit PairedBudget(const schema::PairedPlan& plan) : plan_(plan) {}

  void add(const schema::PairedBlock& block) noexcept {
    samples_[block.arm == 'A' ? 0 : 1] += static_cast<std::int64_t>(block.latency_ns.size());
  }
  void clear() noexcept { samples_[0] = samples_[1] = 0; }

  [[nodiscard]] bool has_samples() const noexcept { return samples() >= plan_.min_samples; }
  /// Seconds of blocks after which no further ABBA round begins.
  [[nodiscard]] double limit_s() const noexcept;
  /// What the budget left undone, if anything.
  [[nodiscard]] std::optional<schema::QualityFlag> flag(int abba_rounds) const;

 private:
  [[nodiscard]] std::int64_t samples() const noexcept { return samples_[0] < samples_[1] ? samples_[0] : samples_[1]; }

  const schema::PairedPlan& plan_;
  std::int64_t samples_[2] = {0, 0};
};

}  // namespace ridgeline::measure
