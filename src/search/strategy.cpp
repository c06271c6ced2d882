// SPDX-License-Identifier: Apache-2.0
#include "search/strategy.hpp"

#include "search/relevance.hpp"

namespace ridgeline::search {

using schema::TrialStage;

Strategy::Strategy(const SearchSpace& space, const SearcherOptions& options)
    : space_(space), options_(options), history_(space_) {
  options_.current = simplify(options_.current);
}

std::optional<Proposal> Strategy::opening() {
  while (opened_ < 2) {
    ++opened_;
    auto proposal = opened_ == 1 ? history_.offer(space_.defaults(), TrialStage::baseline, "the defaults")
                                 : history_.offer_as_is(options_.current, TrialStage::current, "what you have now");
    if (proposal) return proposal;
  }
  return std::nullopt;
}

std::optional<Proposal> Strategy::propose() {
  if (auto proposal = opening()) return proposal;
  return next();
}

std::optional<Proposal> Strategy::propose_beside() {
  // The opening two stand alone: all else is judged against them.
  return opened_ < 2 ? std::nullopt : next_beside();
}

void Strategy::observe(const Proposal& proposal, const Observation& observation) {
  history_.record(proposal, observation);
}

void Strategy::revise(const schema::Configuration& configuration, const Observation& observation) {
  history_.revise(configuration, observation);
}

std::size_t Strategy::remaining() const {
  std::size_t opening = 0;
  if (opened_ < 1 && space_.allows(space_.defaults())) ++opening;
  if (opened_ < 2 && options_.current != space_.defaults()) ++opening;
  return opening + upcoming();
}

}  // namespace ridgeline::search
