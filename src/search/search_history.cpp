// SPDX-License-Identifier: Apache-2.0
#include "search/search_history.hpp"

#include <algorithm>
#include <cmath>

namespace ridgeline::search {

std::optional<Proposal> SearchHistory::offer(const schema::Configuration& configuration, schema::TrialStage stage,
                                             std::string reason) {
  auto form = space_->canonical(configuration);
  if (!space_->allows(form)) return std::nullopt;
  return offer_as_is(form, stage, std::move(reason));
}

std::optional<Proposal> SearchHistory::offer_as_is(const schema::Configuration& configuration, schema::TrialStage stage,
                                                   std::string reason) {
  if (!proposed_.insert(configuration).second) return std::nullopt;
  return Proposal{configuration, stage, std::move(reason), std::nullopt};
}

void SearchHistory::record(const Proposal& proposal, const Observation& observation) {
  auto seen = observation;
  if (seen.cost && !(std::isfinite(*seen.cost) && *seen.cost > 0)) seen.cost.reset();
  const auto at = observed_.size();
  index_[proposal.configuration] = at;
  observed_.push_back({proposal.configuration, seen, space_->covers(proposal.configuration)});
  if (!seen.cost || seen.abandoned || !observed_.back().in_space) return;
  if (!best_ || *seen.cost < *observed_[*best_].observation.cost) best_ = at;
}

const Observed* SearchHistory::find(const schema::Configuration& configuration) const {
  const auto at = index_.find(configuration);
  return at == index_.end() ? nullptr : &observed_[at->second];
}

const Observed* SearchHistory::best() const noexcept { return best_ ? &observed_[*best_] : nullptr; }

std::optional<double> SearchHistory::hopeless_above(double margin) const noexcept {
  const auto* leader = best();
  if (leader == nullptr) return std::nullopt;
  return std::max(*leader->observation.cost, leader->observation.cost_high) * (1 + margin);
}

}  // namespace ridgeline::search
