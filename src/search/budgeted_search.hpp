// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "search/batch_memory_limit.hpp"
#include "search/bench_searcher.hpp"
#include "search/step_prediction.hpp"

namespace ridgeline::search {

/// The beginning of a search with little time: a few trials of computing at batches far apart, the rest of their curve
/// predicted from those, then trials with the loader where the fastest settings should be that can be measured in the
/// time left. What is not known is thought to be good, so that it is tried.
class BudgetedSearch {
 public:
  /// `options.time_s` must be above 0.
  BudgetedSearch(const schema::TrainingSpace& space, const BenchSearchOptions& options);

  /// nullopt: nothing predicted is better than what was measured, or all of it takes too long.
  [[nodiscard]] std::optional<BenchProposal> propose();
  void observe(const BenchProposal& proposal, const BenchObservation& observation);
  void spent(double share) { spent_ = share; }
  /// Seconds that a trial will take, as far as is known.
  [[nodiscard]] double cost_s(const schema::TrainingSettings& settings, schema::DataMode data) const;
  [[nodiscard]] double left_s() const { return (1 - spent_) * options_.time_s; }

 private:
  using Key = std::pair<schema::DataMode, schema::TrainingSettings>;

  struct Candidate {
    schema::TrainingSettings settings;
    double rate = 0;
    double cost_s = 0;
  };

  [[nodiscard]] std::vector<Candidate> candidates() const;
  [[nodiscard]] std::optional<BenchProposal> compute_point() const;
  [[nodiscard]] std::optional<BenchProposal> loader_point() const;
  [[nodiscard]] std::optional<BenchProposal> joint_point() const;
  [[nodiscard]] std::optional<BenchProposal> device_trial(std::int64_t batch, schema::AmpMode amp) const;
  [[nodiscard]] std::optional<std::int64_t> larger_batch(schema::AmpMode amp) const;
  [[nodiscard]] schema::AmpMode fastest_amp() const;
  [[nodiscard]] bool known(const schema::TrainingSettings& settings, schema::DataMode data) const {
    return seen_.count({data, settings}) != 0;
  }
  /// More workers than cores can ever feed: left to a longer search.
  [[nodiscard]] bool crowds_cores(int workers) const { return options_.cores > 0 && workers > 2 * options_.cores; }
  [[nodiscard]] bool fits(const schema::TrainingSettings& settings) const;
  [[nodiscard]] bool times_what_was_ready(const schema::TrainingSettings& settings) const;
  [[nodiscard]] double warm_up_s(const schema::TrainingSettings& settings, schema::DataMode data) const;

  const schema::TrainingSpace space_;
  const BenchSearchOptions options_;
  BatchMemoryLimit memory_limit_;
  StepPrediction prediction_{true};
  std::map<int, std::pair<std::int64_t, double>> loading_;  ///< by workers: batch and samples/s of the loader alone
  std::set<Key> seen_;
  std::map<schema::AmpMode, std::map<std::int64_t, double>> rates_;  ///< of device trials
  std::map<schema::AmpMode, std::int64_t> failed_;                   ///< the smallest batch of device trials
  double best_ = 0;                                                  ///< of joint trials
  int joint_ = 0;
  std::optional<double> capacity_gb_;
  std::vector<double> overheads_s_;
  double spent_ = 0;
};

}  // namespace ridgeline::search
