// SPDX-License-Identifier: Apache-2.0
#include "search/bench_grid.hpp"

#include <algorithm>

#include "search/messages.hpp"

namespace ridgeline::search {

using schema::BenchStage;
using schema::DataMode;

BenchGrid::BenchGrid(const schema::TrainingSpace& space, const BenchSearchOptions& options)
    : amps_(space.amps), memory_limit_(options.headroom, options.on_cpu) {
  if (options.current) queue_.push_back(*options.current);
  for (const auto amp : space.amps)
    for (const bool pin : space.pins)
      for (const int workers : space.workers)
        for (const auto batch : space.batches) queue_.push_back({batch, workers, amp, pin});
  std::reverse(queue_.begin(), queue_.end());
}

std::optional<BenchProposal> BenchGrid::propose() {
  while (!queue_.empty()) {
    const auto settings = queue_.back();
    queue_.pop_back();
    if (!proposed_.insert(settings).second) continue;
    if (const auto reason = memory_limit_.too_large(settings)) {
      skipped_.push_back({settings, *reason});
      continue;
    }
    return BenchProposal{settings, DataMode::loader, BenchStage::sweep, messages::bench_every_combination()};
  }
  return bisection();
}

std::optional<BenchProposal> BenchGrid::bisection() {
  for (const auto amp : amps_) {
    const auto best = best_.find(amp);
    const auto batch = memory_limit_.next_batch(amp);
    if (best == best_.end() || !batch) continue;
    auto settings = best->second.second;
    settings.batch = *batch;
    if (!proposed_.insert(settings).second) continue;
    return BenchProposal{settings, DataMode::loader, BenchStage::bisect, messages::bench_between_batches()};
  }
  return std::nullopt;
}

void BenchGrid::observe(const BenchProposal& proposal, const BenchObservation& observation) {
  memory_limit_.observe(proposal, observation);
  if (!observation.ok()) return;
  auto& best = best_[proposal.settings.amp];
  if (observation.samples_per_s > best.first) best = {observation.samples_per_s, proposal.settings};
}

std::size_t BenchGrid::remaining() const {
  return static_cast<std::size_t>(std::count_if(queue_.begin(), queue_.end(), [&](const auto& settings) {
    return proposed_.count(settings) == 0 && !memory_limit_.too_large(settings);
  }));
}

}  // namespace ridgeline::search
