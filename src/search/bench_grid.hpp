// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>

#include "search/batch_memory_limit.hpp"
#include "search/bench_searcher.hpp"

namespace ridgeline::search {

/// Every combination; see make_bench_searcher.
class BenchGrid final : public BenchSearcher {
 public:
  BenchGrid(const schema::TrainingSpace& space, const BenchSearchOptions& options);
  [[nodiscard]] std::optional<BenchProposal> propose() override;
  [[nodiscard]] std::optional<BenchProposal> propose_beside() override { return propose(); }
  void observe(const BenchProposal& proposal, const BenchObservation& observation) override;
  [[nodiscard]] std::size_t remaining() const override;
  [[nodiscard]] const std::vector<schema::SkippedSettings>& skipped() const override { return skipped_; }

 private:
  [[nodiscard]] std::optional<BenchProposal> bisection();

  std::vector<schema::AmpMode> amps_;
  std::vector<schema::TrainingSettings> queue_;  ///< what is left, the next one last
  std::set<schema::TrainingSettings> proposed_;
  std::map<schema::AmpMode, std::pair<double, schema::TrainingSettings>> best_;
  BatchMemoryLimit memory_limit_;
  std::vector<schema::SkippedSettings> skipped_;
};

}  // namespace ridgeline::search
