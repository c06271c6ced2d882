// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "search/bench_searcher.hpp"

namespace ridgeline::search {

/// Predicts the samples/s of any combination from curves measured separately: a step lasts as long as the slower of
/// computing (device trials) with its copies (host trials), and loading (loader trials); without workers their sum.
/// Joint trials show by how much workers crowd the step itself, and correct what else was predicted wrongly nearby.
class StepPrediction {
 public:
  /// Where nothing was measured: `gaps` lie between, below and above the batches and workers that were, for a search
  /// that has no time to measure all of them. Without it only measured batches are predicted.
  explicit StepPrediction(bool gaps = false) : gaps_(gaps) {}

  void observe(const BenchProposal& proposal, const BenchObservation& observation);

  /// nullopt: no compute trial of this batch and precision; across gaps: no compute trial at all.
  [[nodiscard]] std::optional<double> samples_per_s(const schema::TrainingSettings& settings) const;
  /// Peak reserved memory, as the compute trial showed it; across gaps by a straight line, upward never too little.
  [[nodiscard]] std::optional<double> memory_gb(const schema::TrainingSettings& settings) const;
  /// Times a step's own part is longer beside so many workers than alone; 1 where nothing is known.
  [[nodiscard]] double crowding(int workers) const;

 private:
  struct Compute {
    double wall_ms = 0;
    std::optional<double> memory_gb;
  };
  struct Joint {
    schema::TrainingSettings settings;
    double wall_ms = 0;
  };
  using Curve = std::map<std::int64_t, Compute>;  ///< by batch

  [[nodiscard]] std::optional<double> compute_ms(const schema::TrainingSettings& settings) const;
  [[nodiscard]] std::optional<double> plain_ms(const schema::TrainingSettings& settings) const;
  [[nodiscard]] double copy_ms(const schema::TrainingSettings& settings) const;
  [[nodiscard]] double load_ms(const schema::TrainingSettings& settings) const;
  [[nodiscard]] double correction(const schema::TrainingSettings& settings) const;
  [[nodiscard]] std::map<std::int64_t, double> whole_curve(schema::AmpMode amp) const;
  void learn_from_joint(const schema::TrainingSettings& settings, const BenchObservation& observation, double wall_ms);

  bool gaps_;
  std::map<schema::AmpMode, Curve> compute_;
  std::map<int, double> load_us_;                ///< by workers, a sample
  std::map<bool, double> copy_us_;               ///< by pinning, a sample
  std::map<int, std::vector<double>> crowding_;  ///< by workers: times a step's own time is longer than alone
  std::vector<Joint> joint_;
};

}  // namespace ridgeline::search
