// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>

#include "search/batch_memory_limit.hpp"
#include "search/bench_searcher.hpp"
#include "search/budgeted_search.hpp"
#include "search/step_prediction.hpp"

namespace ridgeline::search {

/// The two curves, then the frontier; see make_bench_searcher. Where no compute trial succeeds (a training function
/// that cannot keep batches on the device) it goes on as a grid.
class BenchAdaptive final : public BenchSearcher {
 public:
  BenchAdaptive(schema::TrainingSpace space, BenchSearchOptions options);
  [[nodiscard]] std::optional<BenchProposal> propose() override;
  void observe(const BenchProposal& proposal, const BenchObservation& observation) override;
  void spent(double share) override;
  [[nodiscard]] std::size_t remaining() const override;
  [[nodiscard]] const std::vector<schema::SkippedSettings>& skipped() const override;

 private:
  using Key = std::pair<schema::DataMode, schema::TrainingSettings>;

  [[nodiscard]] std::optional<BenchProposal> fresh(BenchProposal proposal);
  /// Points of the curves, as long as no more than the share `until` of the time is spent.
  [[nodiscard]] std::optional<BenchProposal> compute_point(double until);
  void skip_untried();
  [[nodiscard]] std::optional<BenchProposal> loader_point(double until);
  [[nodiscard]] std::optional<BenchProposal> copy_point(double until);
  [[nodiscard]] std::optional<BenchProposal> joint_point();
  [[nodiscard]] std::optional<BenchProposal> fastest_point();
  [[nodiscard]] std::optional<BenchProposal> frugal_point();
  [[nodiscard]] std::vector<schema::TrainingSettings> candidates() const;
  [[nodiscard]] std::int64_t middle_batch() const;
  [[nodiscard]] double measured_best() const;
  /// Whether there is time for a trial.
  [[nodiscard]] bool affordable(const schema::TrainingSettings& settings, schema::DataMode data) const;

  schema::TrainingSpace space_;
  BenchSearchOptions options_;
  BatchMemoryLimit memory_limit_;
  StepPrediction prediction_;
  std::set<Key> proposed_;
  std::map<schema::AmpMode, std::set<std::int64_t>> batches_;  ///< of the space, and those found by bisection
  std::map<schema::TrainingSettings, double> measured_;        ///< joint trials: samples/s, 0 when they failed
  bool computed_ = false;                                      ///< some compute trial went well
  std::size_t confirmed_ = 0;
  std::optional<BudgetedSearch> budgeted_search_;  ///< where time is limited
  bool in_budgeted_search_ = false;
  double spent_ = 0;
  std::vector<schema::SkippedSettings> skipped_;
  std::set<std::pair<schema::AmpMode, std::int64_t>> over_limit_;
  std::unique_ptr<BenchSearcher> grid_;
};

}  // namespace ridgeline::search
