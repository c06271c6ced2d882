// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "search/bench_searcher.hpp"

namespace ridgeline::search {

/// Foretells the samples/s of any combination from curves measured by themselves: a step lasts as long as the slower of
/// computing (device trials) with its copies (host trials), and loading (loader trials); without workers their sum.
/// What joint trials show beyond that (crowded cores, memory bandwidth shared) corrects the foretold times nearby.
class StepPrediction {
 public:
  void observe(const BenchProposal& proposal, const BenchObservation& observation);

  /// nullopt: no compute trial of this batch and precision.
  [[nodiscard]] std::optional<double> samples_per_s(const schema::TrainingSettings& settings) const;
  /// Peak reserved memory, as the compute trial showed it.
  [[nodiscard]] std::optional<double> memory_gb(const schema::TrainingSettings& settings) const;
  /// Mean absolute relative error of what was foretold without corrections, over all joint trials.
  [[nodiscard]] std::optional<double> mean_error() const;

 private:
  struct Compute {
    double wall_ms = 0;
    std::optional<double> memory_gb;
  };
  [[nodiscard]] std::optional<double> plain_ms(const schema::TrainingSettings& settings) const;
  [[nodiscard]] double copy_ms(const schema::TrainingSettings& settings) const;
  [[nodiscard]] double load_ms(const schema::TrainingSettings& settings) const;
  [[nodiscard]] double correction(const schema::TrainingSettings& settings) const;

  std::map<std::pair<schema::AmpMode, std::int64_t>, Compute> compute_;
  std::map<int, double> load_us_;                                    ///< by workers, a sample
  std::map<bool, double> copy_us_;                                   ///< by pinning, a sample
  std::vector<std::pair<schema::TrainingSettings, double>> ratios_;  ///< measured over foretold time of joint trials
};

}  // namespace ridgeline::search
